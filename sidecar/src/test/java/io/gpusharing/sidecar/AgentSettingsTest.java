package io.gpusharing.sidecar;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AgentSettingsTest {

    @ParameterizedTest
    @ValueSource(strings = {"metrics", "-1", "65536", "8081.5"})
    void aPortThatCannotBeIsNamed(String port) {
        assertThatThrownBy(() -> AgentSettings.from(Map.of("GPUSHARING_METRICS_PORT", port)))
                .isInstanceOf(Settings.BadSettings.class)
                .hasMessageContaining("GPUSHARING_METRICS_PORT is " + port);
    }

    @Test
    void nothingHasToBeSet() throws Exception {
        AgentSettings settings = AgentSettings.from(Map.of());

        assertThat(settings.metricsPort()).isEqualTo(8081);
        assertThat(settings.proc()).hasToString("/proc");
        assertThat(settings.grants()).hasToString("/var/lib/gpusharing/grants.json");
        assertThat(settings.dcgmNames()).isFalse();
    }

    @Test
    void whatAsksForGpusAtThisSiteComesAsTheServicesHaveIt() throws Exception {
        AgentSettings settings =
                AgentSettings.from(
                        Map.of("GPUSHARING_RESOURCES", "nvidia.com/gpu,example.com/slice"));

        assertThat(settings.gpus().listed()).containsExactly("nvidia.com/gpu", "example.com/slice");
    }
}
