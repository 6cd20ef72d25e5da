package io.gpusharing.placement;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.request.Quantity;
import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.wire.GpuHold;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class HamiPlacementTest {

    private static final String REGISTER =
            """
            [{"id":"GPU-0","count":10,"devmem":16384,"devcore":100,"type":"NVIDIA-A16","numa":0,"mode":"hami-core","health":true},
             {"id":"GPU-1","count":10,"devmem":16384,"devcore":100,"type":"NVIDIA-A16","numa":0,"health":true}]
            """;
    private static final String ALLOCATED = "hami.io/vgpu-devices-allocated";
    private static final Gpu FIRST = new Gpu("GPU-0", 100, 16384);
    private static final Gpu SECOND = new Gpu("GPU-1", 100, 16384);

    private static @Nullable GpuLayout node(String... annotations) {
        return HamiPlacement.layout(map(annotations), HamiPlacementTest::read);
    }

    private static List<HamiGpu> read(String json) {
        try {
            return List.of(new ObjectMapper().readValue(json, HamiGpu[].class));
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(e);
        }
    }

    private static List<Gpu> gpus(String... annotations) {
        return Objects.requireNonNull(node(annotations)).gpus();
    }

    private static Map<String, String> map(String... entries) {
        var map = new HashMap<String, String>();
        for (int i = 0; i < entries.length; i += 2) {
            map.put(entries[i], entries[i + 1]);
        }
        return map;
    }

    private static ContainerRequest container(String... limits) {
        var amounts = new HashMap<String, Quantity>();
        map(limits)
                .forEach((name, amount) ->
                        amounts.put("nvidia.com/" + name, Quantity.parse(amount)));
        return new ContainerRequest("cuda", Kind.App, amounts, Map.of());
    }

    @Test
    void readsTheRegisterOfANodeInBothItsShapes() {
        assertThat(gpus("hami.io/node-nvidia-register", REGISTER)).containsExactly(FIRST, SECOND);
        assertThat(
                        gpus(
                                "hami.io/node-nvidia-register",
                                "GPU-0,10,16384,100,NVIDIA-A16,0,true:GPU-1,10,16384,100,NVIDIA-A16,0,true:"))
                .containsExactly(FIRST, SECOND);
    }

    @Test
    void leavesOutGpusThatMayNotBeUsed() {
        assertThat(gpus("hami.io/node-nvidia-register", REGISTER, "hami.io/device-cordon", "GPU-0"))
                .containsExactly(SECOND);
        assertThat(gpus("hami.io/node-nvidia-register", REGISTER.replaceFirst("true", "false")))
                .containsExactly(SECOND);
    }

    @Test
    void judgesNeitherWhatItCannotReadNorMig() {
        assertThat(node()).isNull();
        assertThat(node("hami.io/node-nvidia-register", "[{\"id\":")).isNull();
        assertThat(node("hami.io/node-nvidia-register", "GPU-0,ten:")).isNull();
        assertThat(node("hami.io/node-nvidia-register", REGISTER.replace("hami-core", "mig")))
                .isNull();
    }

    @Test
    void asksAsHamiUnderstandsIt() {
        assertThat(
                        List.of(
                                container("gpu", "2"),
                                container("gpumem", "4096", "gpucores", "30"),
                                container("gpu", "1", "gpumem-percentage", "50"),
                                container("gpu", "1", "gpumem", "100", "gpucores", "100")))
                .extracting(HamiPlacement::ask)
                .containsExactly(
                        new GpuAsk(2, 100, 0, true),
                        new GpuAsk(1, 30, 4096, false),
                        new GpuAsk(1, 0, 0, 50, false),
                        new GpuAsk(1, 100, 0, true));
        assertThat(HamiPlacement.ask(container()).count()).isZero();
    }

    @Test
    void readsWhatAPodHoldsOfWhichGpu() {
        List<ContainerRequest> two =
                List.of(
                        container("gpu", "2", "gpumem", "3000"),
                        container(),
                        container("gpu", "1"));

        assertThat(
                        HamiPlacement.holds(
                                two,
                                Map.of(
                                        ALLOCATED,
                                        "GPU-0,NVIDIA,3000,0:GPU-1,NVIDIA,3000,0:;GPU-2,NVIDIA,16384,100:;")))
                .containsExactly(
                        new GpuHold("GPU-0", 0, 3000, false),
                        new GpuHold("GPU-1", 0, 3000, false),
                        new GpuHold("GPU-2", 100, 16384, true));
    }

    @Test
    void aPodWithAnIncompleteAnnotationIsIgnored() {
        List<ContainerRequest> one = List.of(container("gpu", "2"));

        assertThat(HamiPlacement.holds(one, Map.of())).isNull();
        assertThat(HamiPlacement.holds(one, Map.of(ALLOCATED, "GPU-0,NVIDIA,1,1:;"))).isNull();
        assertThat(HamiPlacement.holds(one, Map.of(ALLOCATED, "GPU-0,NVIDIA,much,1:;"))).isNull();
    }

    @Test
    void doesNotJudgeWhoChoosesAmongGpus() {
        assertThat(HamiPlacement.unjudged(List.of(), Map.of("nvidia.com/use-gputype", "A100")))
                .isEqualTo("it chooses among GPUs by nvidia.com/use-gputype");
        assertThat(HamiPlacement.unjudged(List.of(container("gpu", "1")), Map.of()))
                .isEqualTo("its init containers ask for GPUs");
        assertThat(HamiPlacement.unjudged(List.of(container()), Map.of())).isNull();
    }
}
