package io.gpusharing.deviceplugin.cdi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.gpusharing.deviceplugin.gpu.NodeGpu;
import io.gpusharing.nvml.PhysicalGpu;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CdiFolderTest {

    private static final NodeGpu GPU =
            new NodeGpu(new PhysicalGpu(1, "GPU-b", 1, "model", 16_384, "", false), null);

    @TempDir private Path folder;

    @Test
    void withoutASpecificationOfTheDriverNvidiasRuntimeIsToldWhichGpu() throws IOException {
        assertThat(new DriverFolders(List.of(folder)).edits().of(List.of(GPU)).toString())
                .isEqualTo("{\"env\":[\"NVIDIA_VISIBLE_DEVICES=GPU-b\"]}");
    }

    @Test
    void ofTheDriversSpecificationOnlyTheGrantedGpuIsTaken() throws IOException {
        Files.writeString(
                folder.resolve("nvidia.yaml"),
                """
                cdiVersion: 0.5.0
                kind: nvidia.com/gpu
                containerEdits: {deviceNodes: [{path: /dev/nvidiactl}]}
                devices:
                  - {name: "0", containerEdits: {deviceNodes: [{path: /dev/nvidia0}]}}
                  - {name: "1", containerEdits: {deviceNodes: [{path: /dev/nvidia1}]}}
                """);

        assertThat(new DriverFolders(List.of(folder)).edits().of(List.of(GPU)).toString())
                .contains("/dev/nvidiactl", "/dev/nvidia1", "NVIDIA_VISIBLE_DEVICES=void")
                .doesNotContain("/dev/nvidia0");
    }

    @Test
    void aDeviceThatIsNamedByTheUuidGoesBeforeOneByTheIndex() throws IOException {
        Files.writeString(
                folder.resolve("nvidia.yaml"),
                """
                kind: nvidia.com/gpu
                devices:
                  - {name: "1", containerEdits: {deviceNodes: [{path: /dev/nvidia1}]}}
                  - {name: GPU-b, containerEdits: {deviceNodes: [{path: /dev/nvidia7}]}}
                """);

        assertThat(new DriverFolders(List.of(folder)).edits().of(List.of(GPU)).toString())
                .contains("/dev/nvidia7")
                .doesNotContain("/dev/nvidia1");
    }

    @Test
    void aGpuThatTheSpecificationDoesNotNameIsRefusedWithWhatHelps() throws IOException {
        Files.writeString(folder.resolve("nvidia.yaml"), "{kind: nvidia.com/gpu, devices: []}");

        assertThatThrownBy(() -> new DriverFolders(List.of(folder)).edits().of(List.of(GPU)))
                .isInstanceOf(IOException.class)
                .hasMessageContainingAll("GPU-b", "nvidia-ctk cdi generate");
    }

    @Test
    void aSpecificationThatIsMadeAnewIsReadAnew() throws IOException {
        var driver = new DriverFolders(List.of(folder));
        assertThat(driver.edits()).isEqualTo(new DriverEdits.LegacyRuntime());

        specification("1", "/dev/nvidia1");
        assertThat(driver.edits().of(List.of(GPU)).toString()).contains("/dev/nvidia1");
        assertThat(driver.edits()).isSameAs(driver.edits());

        specification("GPU-b", "/dev/nvidia7");
        assertThat(driver.edits().of(List.of(GPU)).toString()).contains("/dev/nvidia7");

        Files.delete(folder.resolve("nvidia.yaml"));
        assertThat(driver.edits()).isEqualTo(new DriverEdits.LegacyRuntime());
    }

    private void specification(String name, String path) throws IOException {
        Files.writeString(
                folder.resolve("nvidia.yaml"),
                "{kind: nvidia.com/gpu, devices: [{name: %s, containerEdits: {deviceNodes: [{path: %s}]}}]}"
                        .formatted(name, path));
    }

    @Test
    void aSpecificationThatCannotBeReadIsNamed() throws IOException {
        Files.writeString(folder.resolve("broken.yaml"), "{");

        assertThatThrownBy(() -> new DriverFolders(List.of(folder)).edits())
                .isInstanceOf(IOException.class)
                .hasMessageContaining("broken.yaml");
    }

    @Test
    void writesWhatTheContainerGetsForRootAloneAndTakesItAway() throws IOException {
        var cdi = new CdiFolder(folder.resolve("cdi"), folder.resolve("shares"));
        CdiDevice device = CdiDevice.make();
        var share = new JsonObject();
        share.addProperty(CdiFolder.POD_UID, "uid");
        cdi.write(device, new JsonObject(), Map.of("SHARE", "50"), share);

        Path file = folder.resolve("cdi/gpusharing-%s.json".formatted(device.name()));
        JsonObject written = JsonParser.parseString(Files.readString(file)).getAsJsonObject();
        assertThat(written.get("kind").getAsString() + "=" + device.name())
                .isEqualTo(device.qualifiedName());
        assertThat(written.toString()).contains("SHARE=50", "/run/gpusharing/share.json");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");

        cdi.removeIf("other"::equals);
        assertThat(file).exists();
        cdi.removeIf("uid"::equals);
        assertThat(file).doesNotExist();
        assertThat(folder.resolve("shares")).isEmptyDirectory();
    }

    @Test
    void onlyNamesThatWereMadeHereAreOurs() {
        assertThat(CdiDevice.of(CdiDevice.make().qualifiedName())).isPresent();
        assertThat(CdiDevice.of("nvidia.com/gpu=all")).isEmpty();
        assertThat(CdiDevice.of("gpusharing.io/gpu=../x")).isEmpty();
    }
}
