package io.gpusharing.deviceplugin.grant;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.sharing.Sharing;
import io.gpusharing.wire.ContainerPlacement;
import io.gpusharing.wire.GpuHold;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The file that the node agent reads, which is not root and has no code in common with us. */
class GrantFileTest {

    private static final String FIRST = "GPU-1f2e3d4c-0000-0000-0000-000000000000";
    private static final String SECOND = "GPU-2f2e3d4c-0000-0000-0000-000000000000";

    private static final List<PodGrant> GRANTS =
            List.of(
                    new PodGrant(
                            "0c5c2a52-6d0b-4b0a-9b7e-0a6f4b4b2f10",
                            "team-a",
                            "trainer",
                            List.of(
                                    part("proxy", Kind.NativeSidecar, 10, 1024),
                                    part("cuda", Kind.App, 50, 8192),
                                    part("prepare", Kind.Init, 70, 4096))),
                    new PodGrant(
                            "11111111-2222-3333-4444-555555555555",
                            "team-b",
                            "notebook",
                            List.of(part("cuda", Kind.App, 20, 2048))),
                    new PodGrant(
                            "22222222-2222-3333-4444-555555555555",
                            "team-b",
                            "batch",
                            List.of(
                                    new ContainerPlacement(
                                            "cuda",
                                            Kind.App,
                                            List.of(new GpuHold(SECOND, 100, 16_384, true))))));

    @TempDir private Path folder;
    private GrantFile file;

    @BeforeEach
    void write() throws IOException {
        file = new GrantFile(folder.resolve("grants.json"));
        file.write(GRANTS);
    }

    /** The same file is read in the tests of the node agent. */
    @Test
    void theNodeAgentsTestsReadExactlyWhatIsWritten() throws IOException {
        try (InputStream agents =
                requireNonNull(GrantFileTest.class.getResourceAsStream("/grants/grants.json"))) {
            assertThat(Files.readString(file.path()))
                    .isEqualTo(new String(agents.readAllBytes(), UTF_8));
        }
        assertThat(file.read()).isEqualTo(GRANTS);
    }

    @Test
    void withWhomAPodSharesByMpsOutlivesThePlugin() throws IOException {
        var hold = new GpuHold(FIRST, 30, 1_024, false, Sharing.cooperative("budget/team-a"));
        var grant =
                new PodGrant(
                        "u",
                        "team-a",
                        "trainer",
                        List.of(new ContainerPlacement("cuda", Kind.App, List.of(hold))));

        file.write(List.of(grant));

        assertThat(file.read()).containsExactly(grant);
    }

    @Test
    void everybodyOnTheNodeMayReadIt() throws IOException {
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file.path())))
                .isEqualTo("rw-r--r--");
    }

    private static ContainerPlacement part(String name, Kind kind, long cores, long memory) {
        return new ContainerPlacement(
                name, kind, List.of(new GpuHold(FIRST, cores, memory, false)));
    }
}
