package io.gpusharing.sidecar.attribution;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import io.gpusharing.sidecar.attribution.GrantedPod.Hold;
import io.gpusharing.sidecar.attribution.NodeFiles.Grants;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The device plugin's grants as they lie on the node. */
class GrantFileTest {

    private static final String TRAINER = "0c5c2a52-6d0b-4b0a-9b7e-0a6f4b4b2f10";
    private static final String FIRST = "GPU-1f2e3d4c-0000-0000-0000-000000000000";
    private static final String SECOND = "GPU-2f2e3d4c-0000-0000-0000-000000000000";

    @TempDir private Path directory;
    private Path path;
    private GrantFile file;
    private final List<String> events = new ArrayList<>();

    @BeforeEach
    void start() {
        path = directory.resolve("grants.json");
        file = new GrantFile(path, new Recorder());
    }

    @Test
    void whatTheDevicePluginWroteIsRead() throws IOException {
        replace(written());

        file.refresh();

        assertThat(file.pods())
                .extracting(GrantedPod::pod)
                .containsExactly("trainer", "notebook", "batch");
        assertThat(file.pods().getFirst().uid()).isEqualTo(TRAINER);
        assertThat(file.pods().getFirst().held())
                .containsOnly(entry(FIRST, new Hold(FIRST, 80, 9216, false)));
        assertThat(file.pods().getLast().held())
                .containsEntry(SECOND, new Hold(SECOND, 100, 16_384, true));
        assertThat(file.state()).isEqualTo(Grants.READ);
        assertThat(events).containsExactly("read");
    }

    @Test
    void aFileThatIsNotThereIsNothingToTell() {
        file.refresh();

        assertThat(file.pods()).isEmpty();
        assertThat(file.state()).isEqualTo(Grants.ABSENT);
        assertThat(events).isEmpty();
    }

    @Test
    void itIsReadAgainWhenItWasReplacedAndNotOtherwise() throws IOException {
        replace(written());
        assertThat(file.refresh()).isTrue();
        assertThat(file.refresh()).isFalse();

        replace(written().replace("trainer", "sleeper"));

        assertThat(file.refresh()).isTrue();
        assertThat(file.pods().getFirst().pod()).isEqualTo("sleeper");
        assertThat(events).containsExactly("read");
    }

    @Test
    void aReplacementOfTheSameLengthAndTimeIsSeen() throws IOException {
        replace(written());
        FileTime time = Files.getLastModifiedTime(path);
        file.refresh();

        replace(written().replace("trainer", "sleeper"));
        Files.setLastModifiedTime(path, time);
        file.refresh();

        assertThat(file.pods().getFirst().pod()).isEqualTo("sleeper");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "[]",
                "{\"version\":1}",
                "{\"version\":2,\"pods\":[]}",
                "{\"version\":1,\"pods\":[7]}",
                "{\"version\":1,\"pods\":[{\"uid\":\"a\",\"namespace\":\"b\",\"name\":\"c\"}]}",
                "{\"version\":1,\"pods\":[{\"uid\":\"a\",\"namespace\":\"b\",\"name\":\"c\",\"containers\":[{\"kind\":\"Late\",\"gpus\":[]}]}]}"
            })
    void whatCannotBeUnderstoodIsToldOnceAndUsedForNothing(String text) throws IOException {
        replace(written());
        file.refresh();

        replace(text);
        file.refresh();
        file.refresh();
        replace(text + " ");
        file.refresh();

        assertThat(file.pods()).isEmpty();
        assertThat(file.state()).isEqualTo(Grants.UNREADABLE);
        assertThat(events).hasSize(2).last().asString().contains(path.toString());
    }

    @Test
    void aPluginThatIsTakenOffTheNodeIsTold() throws IOException {
        replace(written());
        file.refresh();

        Files.delete(path);
        file.refresh();

        assertThat(file.pods()).isEmpty();
        assertThat(events).containsExactly("read", "gone");
    }

    /** The device plugin's own test holds that it writes exactly this. */
    private static String written() throws IOException {
        try (InputStream file =
                requireNonNull(GrantFileTest.class.getResourceAsStream("/grants/grants.json"))) {
            return new String(file.readAllBytes(), UTF_8);
        }
    }

    private void replace(String text) throws IOException {
        Path draft = Files.writeString(directory.resolve("grants.json.tmp"), text);
        Files.move(
                draft, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    private final class Recorder implements GrantEvents {

        @Override
        public void grantsRead() {
            events.add("read");
        }

        @Override
        public void grantsUnreadable(String reason) {
            events.add("unreadable: " + reason);
        }

        @Override
        public void grantsGone() {
            events.add("gone");
        }
    }
}
