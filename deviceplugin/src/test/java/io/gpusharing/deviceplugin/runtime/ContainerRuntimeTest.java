package io.gpusharing.deviceplugin.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ContainerRuntimeTest {

    private static final String CONTAINERD = "/etc/containerd/config.toml";
    private static final String NVIDIA = "/etc/nvidia-container-runtime/config.toml";

    private static final String SECTION_2 = "plugins.\"io.containerd.grpc.v1.cri\".containerd";
    private static final String SECTION_3 = "plugins.'io.containerd.cri.v1.runtime'.containerd";

    @TempDir private Path host;

    private ContainerRuntime runtime;

    @BeforeEach
    void start() throws IOException {
        runtime = runtime("containerd://2.1.4");
        write(CONTAINERD, withHandler(3, SECTION_3, "nvidia", "nvidia-container-runtime"));
        write(NVIDIA, "[nvidia-container-runtime]\nmode = \"legacy\"\n");
    }

    @ParameterizedTest(name = "version {0}")
    @CsvSource({
        "1, plugins.cri.containerd",
        "2, plugins.\"io.containerd.grpc.v1.cri\".containerd",
        "3, plugins.'io.containerd.cri.v1.runtime'.containerd"
    })
    void nvidiasRuntimeAsTheDefaultShowsEveryGpuToWhoSetsTheVariable(int version, String section)
            throws IOException {
        write(CONTAINERD, withHandler(version, section, "nvidia", "nvidia-container-runtime"));

        assertThat(runtime.exposure())
                .isEqualTo(
                        new Exposure.Open(
                                "containerd starts containers by NVIDIA's runtime (handler nvidia, mode legacy),"
                                        + " which gives them every GPU that a pod or an image names in NVIDIA_VISIBLE_DEVICES",
                                "in "
                                        + NVIDIA
                                        + ": accept-nvidia-visible-devices-envvar-when-unprivileged = false"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"auto", "legacy", "cdi", "jit-cdi"})
    void aSettingLimitsTheVariableToPrivilegedContainers(String mode) throws IOException {
        assertThat(exposureWith(setting(true) + mode(mode))).isInstanceOf(Exposure.Open.class);

        assertThat(exposureWith(setting(false) + mode(mode))).isEqualTo(new Exposure.Closed());
    }

    @Test
    void withoutTheSettingItIsOpen() throws IOException {
        assertThat(
                        exposureWith(
                                "#accept-nvidia-visible-devices-envvar-when-unprivileged = false\n"))
                .isInstanceOf(Exposure.Open.class);
    }

    @Test
    void theModeCsvDoesNotLookAtTheSetting() throws IOException {
        assertThat(exposureWith(setting(false) + mode("csv")))
                .isInstanceOfSatisfying(
                        Exposure.Open.class,
                        open -> assertThat(open.remedy()).contains("mode = \"cdi\""));
    }

    @Test
    void aProgramOfOneModeHasThatMode() throws IOException {
        write(CONTAINERD, withHandler(3, SECTION_3, "gpu", "nvidia-container-runtime.cdi"));

        assertThat(exposureWith(setting(false) + mode("csv"))).isEqualTo(new Exposure.Closed());
    }

    @Test
    void mountsAloneAreNoVariable() throws IOException {
        assertThat(
                        exposureWith(
                                "accept-nvidia-visible-devices-as-volume-mounts = true\n"
                                        + setting(false)))
                .isEqualTo(new Exposure.Closed());
    }

    @Test
    void withoutNvidiasRuntimeThereIsNobodyToReadTheVariable() throws IOException {
        write(CONTAINERD, withHandler(3, SECTION_3, "runc2", "/usr/bin/runc"));
        Files.delete(host.resolve(NVIDIA.substring(1)));

        assertThat(runtime.exposure()).isEqualTo(new Exposure.Closed());
    }

    @Test
    void anEmptyConfigurationIsContainerdsOwn() throws IOException {
        write(CONTAINERD, "version = 3\n");

        assertThat(runtime.exposure()).isEqualTo(new Exposure.Closed());
    }

    @Test
    void nvidiasProgramMayBeThatOfTheHandlerRunc() throws IOException {
        write(
                CONTAINERD,
                "version = 2\n[%s.runtimes.runc.options]\nBinaryName = \"/usr/bin/nvidia-container-runtime\"\n"
                        .formatted(SECTION_2));

        assertThat(runtime.exposure())
                .isInstanceOfSatisfying(
                        Exposure.Open.class,
                        open -> assertThat(open.reason()).contains("handler runc"));
    }

    @Test
    void aHandlerThatIsNotTheDefaultIsReachedByARuntimeClass() throws IOException {
        write(
                CONTAINERD,
                withHandler(3, SECTION_3, "nvidia", "nvidia-container-runtime")
                        .replace("default_runtime_name = \"nvidia\"", ""));

        assertThat(runtime.exposure())
                .isInstanceOfSatisfying(
                        Exposure.Open.class,
                        open ->
                                assertThat(open.reason())
                                        .contains("of a RuntimeClass with the handler nvidia"));
    }

    @Test
    void importedFilesCount() throws IOException {
        write(
                CONTAINERD,
                "version = 3\nimports = [\"conf.d/*.toml\", \"/etc/containerd/one.toml\"]\n");
        write("/etc/containerd/one.toml", "imports = [\"config.toml\"]\n");
        assertThat(runtime.exposure()).isEqualTo(new Exposure.Closed());

        write(
                "/etc/containerd/conf.d/99-nvidia.toml",
                withHandler(3, SECTION_3, "nvidia", "nvidia-container-runtime"));

        assertThat(runtime("containerd://2.1.4").exposure()).isInstanceOf(Exposure.Open.class);
    }

    @Test
    void anImportThatIsNotMountedLeavesItUnknown() throws IOException {
        write(CONTAINERD, "version = 3\nimports = [\"/opt/conf.d/*.toml\"]\n");
        assertThat(problem()).isEqualTo("/opt/conf.d is not there, or not mounted into this pod");

        write(CONTAINERD, "version = 3\nimports = [\"/opt/one.toml\"]\n# longer\n");
        assertThat(problem()).isEqualTo("/opt/one.toml is not there, or not mounted into this pod");
    }

    @Test
    void aFileThatIsNotThereLeavesItUnknown() throws IOException {
        Files.delete(host.resolve(NVIDIA.substring(1)));
        assertThat(problem()).isEqualTo(NVIDIA + " is not there, or not mounted into this pod");

        Files.delete(host.resolve(CONTAINERD.substring(1)));
        assertThat(problem()).isEqualTo(CONTAINERD + " is not there, or not mounted into this pod");
    }

    @Test
    void aFileThatIsNoTomlLeavesItUnknown() throws IOException {
        write(CONTAINERD, "version = = 3\n");

        assertThat(problem()).startsWith(CONTAINERD + " is no TOML: ");
    }

    @Test
    void gpuOperatorsRuntimeHasItsConfigurationBesideIt() throws IOException {
        write(
                CONTAINERD,
                withHandler(
                        2,
                        SECTION_2,
                        "nvidia",
                        "/usr/local/nvidia/toolkit/nvidia-container-runtime"));
        String own = "/usr/local/nvidia/toolkit/.config/nvidia-container-runtime/config.toml";
        assertThat(problem()).startsWith(own);

        write(own, setting(false));

        assertThat(runtime.exposure()).isEqualTo(new Exposure.Closed());
    }

    @Test
    void ofOtherRuntimesNothingIsKnown() {
        assertThat(runtime("cri-o://1.34.1").exposure())
                .isEqualTo(
                        new Exposure.Unknown(
                                "this node's container runtime is cri-o://1.34.1, and only containerd's configuration can be read"));
    }

    @Test
    void noticesAChangeAndReadsNothingInBetween() throws IOException {
        Exposure first = runtime.exposure();
        assertThat(runtime.exposure()).isSameAs(first);

        Path file = write(NVIDIA, setting(false));
        Files.setLastModifiedTime(file, FileTime.from(Instant.parse("2026-11-25T10:00:00Z")));

        assertThat(runtime.exposure()).isEqualTo(new Exposure.Closed());
    }

    private ContainerRuntime runtime(String version) {
        return new ContainerRuntime(version, host, Path.of(CONTAINERD), Path.of(NVIDIA));
    }

    private Exposure exposureWith(String nvidia) throws IOException {
        write(NVIDIA, nvidia);
        return runtime("containerd://1.7.27").exposure();
    }

    private String problem() {
        return runtime.exposure() instanceof Exposure.Unknown(String problem) ? problem : "known";
    }

    private Path write(String file, String content) throws IOException {
        Path here = host.resolve(file.substring(1));
        Files.createDirectories(here.resolveSibling(""));
        return Files.writeString(here, content);
    }

    private static String withHandler(int version, String section, String name, String program) {
        return """
        version = %d
        [%2$s]
          default_runtime_name = "%3$s"
          snapshotter = "overlayfs"
          [%2$s.runtimes.runc]
            runtime_type = "io.containerd.runc.v2"
            [%2$s.runtimes.runc.options]
              SystemdCgroup = true
          [%2$s.runtimes.%3$s]
            privileged_without_host_devices = false
            runtime_type = "io.containerd.runc.v2"
            [%2$s.runtimes.%3$s.options]
              BinaryName = "%4$s"
        """
                .formatted(version, section, name, program);
    }

    private static String setting(boolean accept) {
        return "accept-nvidia-visible-devices-envvar-when-unprivileged = %s\n".formatted(accept);
    }

    private static String mode(String mode) {
        return "[nvidia-container-runtime]\nruntimes = [\"runc\", \"crun\"]\nmode = \"%s\"\n"
                .formatted(mode);
    }
}
