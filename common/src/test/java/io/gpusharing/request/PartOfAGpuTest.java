package io.gpusharing.request;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.request.grammar.RequestGrammars;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whether a pod's request says that it shares its GPU, before its node is known. */
class PartOfAGpuTest {

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource({
        "vcuda, tencent.com/vcuda-core=50 tencent.com/vcuda-memory=15",
        "aliyun, aliyun.com/gpu-mem=8",
        "metagpu, cnvrg.io/metagpu=150",
        "nvidia, nvidia.com/gpu.shared=1",
        "nvidia, nvidia.com/mig-1g.5gb=1",
        "nvidia, nvidia.com/mig-3g.20gb=1",
        "nvidia, nvidia.com/mig-9g.999gb=1",
        "nvidia, nvidia.com/mig-7g.40gb.shared=1",
        "hami, nvidia.com/gpumem=3000",
        "hami, nvidia.com/gpu=2 nvidia.com/gpumem-percentage=30"
    })
    void somePodsAskForAPart(String grammar, String amounts) {
        assertThat(asksForAPart(grammar, request(amounts))).isTrue();
    }

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource({
        "vcuda, tencent.com/vcuda-core=200",
        "metagpu, cnvrg.io/metagpu=200",
        "nvidia, nvidia.com/gpu=1",
        "nvidia, nvidia.com/mig-7g.40gb=1",
        "hami, nvidia.com/gpu=1",
        "hami, nvidia.com/gpu=1 nvidia.com/gpucores=100"
    })
    void othersAskForWholeGpus(String grammar, String amounts) {
        assertThat(asksForAPart(grammar, request(amounts))).isFalse();
    }

    @Test
    void twoHalvesAreTwoPartsAndNoWhole() {
        var half = "tencent.com/vcuda-core=50 tencent.com/vcuda-memory=15";

        assertThat(asksForAPart("vcuda", request(half, half))).isTrue();
    }

    private static boolean asksForAPart(String grammar, PodRequest pod) {
        return RequestGrammars.of(List.of(grammar), List.of())
                .grammarOf(pod)
                .orElseThrow()
                .asksForAPart(pod);
    }

    private static PodRequest request(String... containers) {
        return new PodRequest(
                Arrays.stream(containers)
                        .map(amounts ->
                                new ContainerRequest("c", Kind.App, amounts(amounts), Map.of()))
                        .toList());
    }

    private static Map<String, Quantity> amounts(String text) {
        var amounts = new HashMap<String, Quantity>();
        for (String amount : text.split(" ", -1)) {
            String[] parts = amount.split("=", 2);
            amounts.put(parts[0], Quantity.parse(parts[1]));
        }
        return amounts;
    }
}
