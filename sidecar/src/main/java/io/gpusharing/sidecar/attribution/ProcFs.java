package io.gpusharing.sidecar.attribution;

import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * What we read of {@code /proc}. A process may vanish between any two reads, or be hidden; both
 * look like absence here and are no error.
 */
public final class ProcFs {

    private static final int STATE_FIELD = 3;
    private static final int START_TIME_FIELD = 22;
    private static final Pattern MOVES_TERMINALS = Pattern.compile("[\\p{C}\\p{Zl}\\p{Zp}]");

    private final Path root;

    /**
     * @param root {@code /proc}, or a tree that looks like it
     */
    public ProcFs(Path root) {
        this.root = root;
    }

    /** Whether a process with this pid is visible. */
    public boolean exists(long pid) {
        return Files.isDirectory(root.resolve(Long.toString(pid)));
    }

    /** The kernel's name of this boot; empty where there is none. */
    public String bootId() {
        return read("sys/kernel/random/boot_id").map(String::strip).orElse("");
    }

    /** The text of {@code /proc/<pid>/cgroup}. */
    public Optional<String> cgroup(long pid) {
        return read(pid + "/cgroup");
    }

    /**
     * Clock ticks after boot at which a process started: together with the pid it names one process
     * for good.
     */
    public Optional<String> startTime(long pid) {
        return stat(pid).map(fields -> fields[START_TIME_FIELD - STATE_FIELD]);
    }

    /** The same of a process that has not ended; one that nobody waited for is still listed. */
    Optional<String> livingSince(long pid) {
        return stat(pid)
                .filter(fields -> !fields[0].equals("Z") && !fields[0].equals("X"))
                .map(fields -> fields[START_TIME_FIELD - STATE_FIELD]);
    }

    /** The fields of {@code /proc/<pid>/stat} from the process's state on. */
    private Optional<String[]> stat(long pid) {
        // The second field is the command in parentheses and may hold spaces and parentheses.
        return read(pid + "/stat")
                .map(stat -> stat.substring(stat.lastIndexOf(')') + 1).strip().split(" ", -1))
                .filter(fields -> fields.length > START_TIME_FIELD - STATE_FIELD);
    }

    /** All processes that are visible. */
    List<Long> pids() {
        List<Long> pids = new ArrayList<>();
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(root, "[0-9]*")) {
            processes.forEach(process -> pids.add(Long.valueOf(process.getFileName().toString())));
        } catch (IOException | DirectoryIteratorException e) {
            return List.of();
        }
        return pids;
    }

    /**
     * The kernel's name of a process, of 15 bytes at most; empty where there is none. Whoever runs
     * it chooses it, so what could move somebody's terminal is shown as {@code ?}.
     */
    public String command(long pid) {
        return read(pid + "/comm", StandardCharsets.UTF_8)
                .map(name -> MOVES_TERMINALS.matcher(name.strip()).replaceAll("?"))
                .orElse("");
    }

    /**
     * Whether the containers of this pod share one process namespace: the first process is the
     * pause container's, or processes of more than one container are visible.
     */
    public boolean sharesPodNamespace() {
        if (read("1/comm").map(String::strip).filter("pause"::equals).isPresent()) {
            return true;
        }
        Set<String> cgroups = new HashSet<>();
        pids().forEach(pid -> cgroup(pid).ifPresent(cgroups::add));
        return cgroups.size() > 1;
    }

    private Optional<String> read(String name) {
        return read(name, StandardCharsets.ISO_8859_1);
    }

    private Optional<String> read(String name, Charset charset) {
        try {
            return Optional.of(new String(Files.readAllBytes(root.resolve(name)), charset));
        } catch (IOException e) {
            return Optional.empty();
        }
    }
}
