package io.gpusharing.request.grammar;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GpuNamesTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "tencent.com/vcuda-core",
                "tencent.com/vcuda-memory",
                "aliyun.com/gpu-mem",
                "cnvrg.io/metagpu",
                "nvidia.com/gpu",
                "nvidia.com/gpu.shared",
                "nvidia.com/mig-1g.10gb",
                "nvidia.com/gpumem",
                "amd.com/gpu",
                "gpu.intel.com/i915",
                "gpu.intel.com/xe"
            })
    void whatAnyGrammarReadsIsAGpuAndSoAreThoseOfOtherMakers(String resource) {
        assertThat(GpuNames.isGpu(resource)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "cpu",
                "memory",
                "hugepages-1Gi",
                "rdma/hca",
                "nvidia.com/gpu-driver",
                "gpu.intel.com/i915_monitoring",
                "aliyun.com/gpu-count"
            })
    void aResourceThatGivesNoPodAGpuIsIgnored(String resource) {
        assertThat(GpuNames.isGpu(resource)).isFalse();
    }

    @Test
    void theGrammarsThatASiteCouldAddAreNamed() {
        var vcuda = RequestGrammars.of(List.of("vcuda"), List.of());
        var hami = RequestGrammars.of(List.of("hami"), List.of());

        assertThat(vcuda.couldBeReadBy("nvidia.com/gpu")).containsExactly("nvidia", "hami");
        assertThat(vcuda.couldBeReadBy("cnvrg.io/metagpu")).containsExactly("metagpu");
        assertThat(vcuda.couldBeReadBy("amd.com/gpu")).isEmpty();
        assertThat(hami.couldBeReadBy("nvidia.com/mig-1g.10gb")).containsExactly("nvidia");
    }

    @Test
    void nvidiasPluginHandsOutWholeGpusReplicasAndSlices() {
        assertThat(List.of("nvidia.com/gpu", "nvidia.com/gpu.shared", "nvidia.com/mig-1g.10gb"))
                .allMatch(GpuNames::isOfNvidiasPlugin);
        assertThat(List.of("nvidia.com/gpumem", "nvidia.com/gpucores", "tencent.com/vcuda-core"))
                .noneMatch(GpuNames::isOfNvidiasPlugin);
    }
}
