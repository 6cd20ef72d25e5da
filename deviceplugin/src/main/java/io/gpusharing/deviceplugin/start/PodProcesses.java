package io.gpusharing.deviceplugin.start;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/**
 * Which pods have processes. A pod that was deleted by force is gone from the API server at once,
 * its processes up to some seconds later.
 *
 * @param proc {@code /proc} of the node
 */
public record PodProcesses(Path proc) {

    /** Those of these pods that have at least one process that has not ended. */
    Set<String> alive(Set<String> podUids) throws IOException {
        var alive = new HashSet<String>();
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(proc, "[0-9]*")) {
            for (Path process : processes) {
                String groups = read(process, "cgroup").orElse("");
                for (String uid : podUids) {
                    if (!alive.contains(uid) && names(groups, uid) && !isZombie(process)) {
                        alive.add(uid);
                    }
                }
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        return alive;
    }

    /** Numbers of all processes of a pod, as the node counts them. */
    public Set<Long> of(String podUid) throws IOException {
        var pids = new HashSet<Long>();
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(proc, "[0-9]*")) {
            for (Path process : processes) {
                if (names(read(process, "cgroup").orElse(""), podUid)) {
                    pids.add(Long.parseLong(process.getFileName().toString()));
                }
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        return pids;
    }

    /** With systemd a group's name has no dash of its own. */
    private static boolean names(String groups, String uid) {
        return groups.contains("pod" + uid) || groups.contains("pod" + uid.replace('-', '_'));
    }

    private static boolean isZombie(Path process) {
        // The command in parentheses may hold anything; the state follows.
        return read(process, "stat")
                .map(stat -> stat.substring(stat.lastIndexOf(')') + 1).stripLeading())
                .filter(rest -> rest.startsWith("Z") || rest.startsWith("X"))
                .isPresent();
    }

    /** Empty if the process has ended meanwhile. */
    private static Optional<String> read(Path process, String name) {
        try {
            return Optional.of(Files.readString(process.resolve(name), ISO_8859_1));
        } catch (IOException e) {
            return Optional.empty();
        }
    }
}
