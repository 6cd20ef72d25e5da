package io.gpusharing.scheduler.inspect;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.scheduler.gpus.NodeMemory;
import io.gpusharing.scheduler.gpus.NodeMemory.GpuMemory;
import io.gpusharing.scheduler.gpus.NodeMemory.PodMemory;
import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

class InspectionTest {

    private static final JsonMapper JSON = JsonMapper.builder().build();

    @Test
    void hasTheNamesOfGpusharesOwnExtender() {
        var nodes =
                List.of(
                        new NodeMemory("b", List.of(new GpuMemory(0, 16_384, 0, List.of()))),
                        new NodeMemory(
                                "a",
                                List.of(
                                        new GpuMemory(
                                                1,
                                                15_360,
                                                7_680,
                                                List.of(
                                                        new PodMemory("team-b", "one", 3_840),
                                                        new PodMemory("team-a", "two", 3_840))),
                                        new GpuMemory(0, 15_360, 0, List.of()))));

        assertThat(JSON.readTree(JSON.writeValueAsString(Inspection.of(nodes))))
                .isEqualTo(
                        JSON.readTree(
                                """
                                {"nodes": [
                                  {"name": "a", "totalGPU": 30, "usedGPU": 8, "devs": [
                                    {"id": 0, "totalGPU": 15, "usedGPU": 0, "pods": []},
                                    {"id": 1, "totalGPU": 15, "usedGPU": 8, "pods": [
                                      {"name": "two", "namespace": "team-a", "usedGPU": 4},
                                      {"name": "one", "namespace": "team-b", "usedGPU": 4}]}]},
                                  {"name": "b", "totalGPU": 16, "usedGPU": 0, "devs": [
                                    {"id": 0, "totalGPU": 16, "usedGPU": 0, "pods": []}]}]}
                                """));
    }

    @Test
    void withoutPodsItSaysWhatIsUsedAndNotByWhom() {
        var nodes =
                List.of(
                        new NodeMemory(
                                "a",
                                List.of(
                                        new GpuMemory(
                                                0,
                                                15_360,
                                                3_840,
                                                List.of(new PodMemory("team-a", "one", 3_840))))));

        assertThat(JSON.writeValueAsString(Inspection.of(nodes).withoutPods()))
                .isEqualTo(
                        """
                        {"nodes":[{"name":"a","totalGPU":15,"usedGPU":4,"devs":[{"id":0,"totalGPU":15,"usedGPU":4}]}]}\
                        """);
    }

    @Test
    void aWholeGpuHasNoMoreThanItHasAndAnOverbookedOneHas() {
        var full =
                List.of(new NodeMemory("a", List.of(new GpuMemory(0, 15_109, 15_109, List.of()))));
        var over =
                List.of(new NodeMemory("a", List.of(new GpuMemory(0, 15_109, 16_133, List.of()))));

        assertThat(Inspection.of(full).nodes().getFirst().used()).isEqualTo(14);
        assertThat(Inspection.of(over).nodes().getFirst().used()).isEqualTo(16);
    }
}
