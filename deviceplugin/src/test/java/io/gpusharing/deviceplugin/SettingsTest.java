package io.gpusharing.deviceplugin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpusharing.deviceplugin.Settings.BadSettings;
import io.gpusharing.deviceplugin.dialect.Aliyun;
import io.gpusharing.deviceplugin.dialect.Metagpu;
import io.gpusharing.deviceplugin.dialect.Vcuda;
import io.gpusharing.sharing.Sharing;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SettingsTest {

    @Test
    void theNameOfTheNodeIsEnough() throws BadSettings {
        Settings settings = settings(Map.of());

        assertThat(settings.dialect(Map.of())).isEqualTo(new Vcuda());
        assertThat(settings.kubelet()).isEqualTo(Path.of("/var/lib/kubelet"));
        assertThat(settings.cdi()).containsExactly(Path.of("/etc/cdi"), Path.of("/var/run/cdi"));
    }

    @Test
    void mpsIsOffUntilSomebodyTurnsItOn() throws BadSettings {
        assertThat(settings(Map.of()).mps()).isFalse();

        Settings settings =
                settings(
                        Map.of(
                                "GPUSHARING_MPS",
                                "Enabled",
                                "GPUSHARING_MPS_SHARE_ACROSS",
                                "Namespace",
                                "GPUSHARING_MPS_CLIENTS",
                                "60"));

        assertThat(settings.mps()).isTrue();
        assertThat(settings.mpsAcross()).isEqualTo(Sharing.Across.Namespace);
        assertThat(settings.mpsClients()).isEqualTo(60);
    }

    @Test
    void ofMpsEveryProblemIsSaidAtOnce() {
        assertThatThrownBy(() ->
                        settings(
                                Map.of(
                                        "GPUSHARING_MPS",
                                        "enabled",
                                        "GPUSHARING_MPS_SHARE_ACROSS",
                                        "Team",
                                        "GPUSHARING_MPS_CLIENTS",
                                        "0")))
                .hasMessageContaining("GPUSHARING_MPS is enabled; use Disabled or Enabled")
                .hasMessageContaining("is Team; use Budget or Namespace or Cluster")
                .hasMessageContaining("GPUSHARING_MPS_CLIENTS is 0; use 2 to 128");
    }

    @Test
    void aLibraryThatLimitsProgramsIsNamedByItsPath() throws BadSettings {
        Settings settings =
                settings(
                        Map.of(
                                "GPUSHARING_INTERCEPTOR",
                                "/opt/lib.so",
                                "GPUSHARING_INTERCEPTOR_ENVIRONMENT",
                                "A=1\nB=x=y\n"));

        assertThat(settings.interceptor()).isEqualTo("/opt/lib.so");
        assertThat(settings.interceptorEnvironment()).containsExactly("A=1", "B=x=y");
        assertThatThrownBy(() ->
                        settings(
                                Map.of(
                                        "GPUSHARING_INTERCEPTOR",
                                        "lib.so",
                                        "GPUSHARING_INTERCEPTOR_ENVIRONMENT",
                                        "1=2")))
                .hasMessageContaining("GPUSHARING_INTERCEPTOR is lib.so; use the path")
                .hasMessageContaining("has 1=2; use NAME=value");
    }

    @Test
    void theProgramThatRunsDaemonsHasSettingsOfItsOwn() throws BadSettings {
        MpsDaemons.Environment usual = MpsDaemons.Environment.from(Map.of());

        assertThat(usual.exclusive()).isTrue();
        assertThat(usual.folders()).isEqualTo(Path.of("/run/gpusharing/mps"));
        assertThat(usual.state()).isEqualTo(Path.of("/var/lib/gpusharing"));
        assertThatThrownBy(() ->
                        MpsDaemons.Environment.from(
                                Map.of("GPUSHARING_MPS_COMPUTE_MODE", "Prohibited")))
                .hasMessageContaining("use Exclusive or Unchanged");
    }

    @Test
    void thePodThatRunsDaemonsIsNamedForTheNodeAgent(@TempDir Path state)
            throws BadSettings, IOException {
        MpsDaemons.introduce(
                MpsDaemons.Environment.from(
                        Map.of(
                                "GPUSHARING_STATE_DIR",
                                state.toString(),
                                "GPUSHARING_POD_UID",
                                "5e4ae400-0000-0000-0000-000000000000")));

        assertThat(state.resolve("mps-pod")).hasContent("5e4ae400-0000-0000-0000-000000000000");
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
        assertThat(settings.resources())
                .containsExactlyInAnyOrder(
                        "tencent.com/vcuda-core",
                        "tencent.com/vcuda-memory",
                        "aliyun.com/gpu-mem",
                        "cnvrg.io/metagpu",
                        "example.com/gpu");
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
