package io.gpusharing.deviceplugin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpusharing.deviceplugin.Settings.BadSettings;
import io.gpusharing.deviceplugin.dialect.Aliyun;
import io.gpusharing.deviceplugin.dialect.Metagpu;
import io.gpusharing.deviceplugin.dialect.Vcuda;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class SettingsTest {

    @Test
    void theNameOfTheNodeIsEnough() throws BadSettings {
        Settings settings = settings(Map.of());

        assertThat(settings.dialect(Map.of())).isEqualTo(new Vcuda());
        assertThat(settings.kubelet()).isEqualTo(Path.of("/var/lib/kubelet"));
        assertThat(settings.cdi()).containsExactly(Path.of("/etc/cdi"), Path.of("/var/run/cdi"));
    }

    @Test
    void theNodesLabelGoesBeforeTheValues() throws BadSettings {
        Settings settings =
                settings(
                        Map.of(
                                "GPUSHARING_DIALECT",
                                "aliyun",
                                "GPUSHARING_METAGPU",
                                "example.com/gpu=10,cnvrg.io/metagpu=100"));

        assertThat(settings.dialect(Map.of())).isEqualTo(new Aliyun());
        assertThat(settings.dialect(Map.of("gpusharing.io/dialect", "metagpu")))
                .isEqualTo(
                        new Metagpu(
                                new TreeMap<>(
                                        Map.of("example.com/gpu", 10, "cnvrg.io/metagpu", 100))));
    }

    @Test
    void aLabelThatNamesNoDialectIsRefusedWithThoseThatThereAre() throws BadSettings {
        Settings settings = settings(Map.of());

        assertThatThrownBy(() -> settings.dialect(Map.of("gpusharing.io/dialect", "cuda")))
                .isInstanceOf(BadSettings.class)
                .hasMessageContainingAll("gpu-1", "gpusharing.io/dialect=cuda", "vcuda, aliyun");
    }

    @Test
    void everythingThatIsWrongIsSaidAtOnce() {
        assertThatThrownBy(() ->
                        Settings.from(
                                Map.of(
                                        "GPUSHARING_DIALECT",
                                        "cuda",
                                        "GPUSHARING_METAGPU",
                                        "cnvrg.io/metagpu=0",
                                        "GPUSHARING_PORT",
                                        "x")))
                .isInstanceOf(BadSettings.class)
                .hasMessageContainingAll(
                        "GPUSHARING_NODE", "GPUSHARING_DIALECT", "METAGPU", "GPUSHARING_PORT");
    }

    private static Settings settings(Map<String, String> environment) throws BadSettings {
        var all = new HashMap<>(environment);
        all.put("GPUSHARING_NODE", "gpu-1");
        return Settings.from(all);
    }
}
