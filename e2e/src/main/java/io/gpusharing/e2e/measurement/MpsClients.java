package io.gpusharing.e2e.measurement;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * What became of the clients of a node's MPS daemons, as the stand-in for NVIDIA's has written it
 * ({@code tools/workshop/mps.c}). The node is the first one of this machine.
 */
public final class MpsClients {

    private static final Path DAEMONS = Path.of("/run/gpusharing/mps");

    private MpsClients() {}

    /** What became of one. */
    public enum What {
        /** A client of the daemons' own, which tries whether work gets done. */
        Checks,
        Begins,
        /** It has gone by itself. */
        Ends,
        /** Its daemon was told to end it. */
        Terminated,
        /** It was killed while it worked. */
        Killed,
        /** Another one of its daemon was. */
        Fails
    }

    /**
     * Something that happened to a client.
     *
     * @param host the name of its pod
     * @param because the pod whose kill made it fail; empty if none did
     */
    public record Event(String gpu, Instant at, What what, String host, String because) {

        static Event of(String gpu, String line) {
            String[] words = line.split(" ", 4);
            return new Event(
                    gpu,
                    Instant.ofEpochMilli(Long.parseLong(words[0])),
                    What.valueOf(words[1]),
                    words[2],
                    words.length > 3 ? words[3] : "");
        }
    }

    /** All since the node was started; of one GPU in the order in which it happened. */
    public static List<Event> events() {
        if (!Files.isDirectory(DAEMONS)) {
            return List.of();
        }
        try (Stream<Path> folders = Files.list(DAEMONS)) {
            return folders.flatMap(MpsClients::read)
                    .sorted(Comparator.comparing(Event::at))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Of one GPU. A last line without its end is still being written. */
    private static Stream<Event> read(Path folder) {
        Path log = folder.resolve("log/clients.log");
        try {
            String text = Files.exists(log) ? Files.readString(log) : "";
            return text.substring(0, text.lastIndexOf('\n') + 1)
                    .lines()
                    .map(line -> Event.of(folder.getFileName().toString(), line));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
