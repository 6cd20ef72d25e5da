package io.gpusharing.deviceplugin.kubelet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpusharing.deviceplugin.kubelet.api.CDIDevice;
import io.gpusharing.deviceplugin.kubelet.api.ContainerAllocateResponse;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Base64;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CheckpointTest {

    private static final String CORE = "tencent.com/vcuda-core";

    @TempDir private Path folder;

    @Test
    void saysWhichContainerHoldsWhichUnitsAndByWhichName() throws IOException {
        String answer =
                Base64.getEncoder()
                        .encodeToString(
                                ContainerAllocateResponse.newBuilder()
                                        .addCdiDevices(
                                                CDIDevice.newBuilder().setName("example.com/gpu=x"))
                                        .build()
                                        .toByteArray());
        Checkpoint checkpoint =
                read(
                        """
                        {"Data": {"PodDeviceEntries": [
                          {"PodUID": "uid", "ContainerName": "cuda", "ResourceName": "%s",
                           "DeviceIDs": {"-1": ["g0-1", "g0-0"]}, "AllocResp": "%s"}],
                         "RegisteredDevices": {"%s": ["g0-0", "g0-1", "g0-2"]}}, "Checksum": 1}
                        """
                                .formatted(CORE, answer, CORE));

        assertThat(checkpoint.holders(CORE, Set.of("g0-1")))
                .singleElement()
                .satisfies(entry -> {
                    assertThat(entry.podUid()).isEqualTo("uid");
                    assertThat(entry.container()).isEqualTo("cuda");
                    assertThat(entry.ids()).containsExactlyInAnyOrder("g0-0", "g0-1");
                    assertThat(entry.cdiDevices()).containsExactly("example.com/gpu=x");
                });
        assertThat(checkpoint.holders(CORE, Set.of("g0-2"))).isEmpty();
        assertThat(checkpoint.registered().get(CORE)).hasSize(3);
    }

    @Test
    void readsOneInWhichNothingWasAllocatedYet() throws IOException {
        Checkpoint checkpoint =
                read(
                        "{\"Data\":{\"PodDeviceEntries\":null,\"RegisteredDevices\":{}},\"Checksum\":1}");

        assertThat(checkpoint.entries()).isEmpty();
    }

    @Test
    void believesNothingInAnotherForm() {
        for (String other :
                new String[] {
                    "",
                    "[]",
                    "{}",
                    "{\"Data\": {\"PodDeviceEntries\": null, \"RegisteredDevices\": {}}} {}",
                    "{\"Data\": {\"PodDeviceEntries\": []}}",
                    "{\"Data\": {\"PodDeviceEntries\": [{\"PodUID\": \"uid\"}], \"RegisteredDevices\": {}}}"
                }) {
            assertThatThrownBy(() -> read(other))
                    .as(other)
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("is not a table of devices");
        }
    }

    @Test
    void aTableIsReadAnewUntilItIsSureToBeTheSame() throws IOException {
        Path path = folder.resolve("checkpoint");
        var file = new CheckpointFile(path);
        assertThat(file.read().registered()).isEmpty();

        Files.writeString(path, registered("g0-0"));
        assertThat(file.read().registered().get(CORE)).containsExactly("g0-0");
        Files.setLastModifiedTime(path, FileTime.from(Instant.parse("2999-01-01T00:00:00Z")));
        assertThat(file.read()).isNotSameAs(file.read());
        FileTime old = FileTime.from(Instant.parse("2026-01-01T00:00:00Z"));
        Files.setLastModifiedTime(path, old);
        assertThat(file.read()).isSameAs(file.read());

        Path draft = Files.writeString(folder.resolve("draft"), registered("g1-0"));
        Files.setLastModifiedTime(draft, old);
        Files.move(draft, path, StandardCopyOption.REPLACE_EXISTING);
        assertThat(file.read().registered().get(CORE)).containsExactly("g1-0");
    }

    private static String registered(String id) {
        return "{\"Data\": {\"PodDeviceEntries\": null, \"RegisteredDevices\": {\"%s\": [\"%s\"]}}, \"Checksum\": 1}"
                .formatted(CORE, id);
    }

    private Checkpoint read(String text) throws IOException {
        return Checkpoint.read(Files.writeString(folder.resolve("checkpoint"), text));
    }
}
