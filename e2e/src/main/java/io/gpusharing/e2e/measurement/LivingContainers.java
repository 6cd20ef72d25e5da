package io.gpusharing.e2e.measurement;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * What the containers of a real node have of its GPUs, by their processes alone: neither API server
 * nor device plugin is asked. Every process says by its cgroup whose it is; what it sees stands in
 * the root of its file system.
 *
 * @param node its name, which is that of its cgroup
 */
record LivingContainers(String node) {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Path PROC = Path.of("/proc");

    /** What a container calls itself. */
    static final String NAME = "SOAK_CONTAINER=";

    private static final Pattern FIRST = Pattern.compile("(?m)^NSpid:.*\\t1$");

    /** As the kubelet makes them without systemd. */
    private static final Pattern CGROUP =
            Pattern.compile("/([^/:]+)/kubepods/(?:[^/]+/)?pod([0-9a-f-]{36})/([0-9a-f]{64})");

    /**
     * What a container has of one GPU.
     *
     * @param core hundredths of its processors
     */
    record Share(String gpu, long core, long memoryMiB, boolean whole) {}

    /**
     * A container that lives and says its name, whether it was given GPUs or not.
     *
     * @param id containerd's
     * @param process its first
     * @param shares by what it may read of itself; none if there is nothing to read
     * @param shareOf pod's UID and container by what it may read of itself
     * @param devices minor numbers of the GPUs whose device nodes are in its {@code /dev}
     */
    record Container(
            String id,
            String podUid,
            String name,
            long process,
            List<Share> shares,
            String shareOf,
            Set<Integer> devices,
            Set<String> environment) {}

    /** All that lived at one instant: that of this method's return, or a moment before. */
    List<Container> now() {
        try (Stream<Path> processes = Files.list(PROC)) {
            return processes
                    .filter(LivingContainers::isProcess)
                    .flatMap(process -> read(process).stream())
                    .toList()
                    .stream()
                    .filter(LivingContainers::lives)
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Whether its first process lives still. */
    static boolean lives(Container container) {
        Path process = PROC.resolve(Long.toString(container.process()));
        return text(process.resolve("cgroup")).contains(container.id())
                && isItsOwn(environment(process));
    }

    private static boolean isProcess(Path folder) {
        return folder.getFileName().toString().matches("\\d+");
    }

    private Optional<Container> read(Path process) {
        Matcher cgroup = CGROUP.matcher(text(process.resolve("cgroup")));
        Set<String> environment = environment(process);
        if (!cgroup.find()
                || !cgroup.group(1).equals(node)
                || !FIRST.matcher(text(process.resolve("status"))).find()
                || !isItsOwn(environment)) {
            return Optional.empty();
        }
        Path root = process.resolve("root");
        JsonNode share = json(text(root.resolve("run/gpusharing/share.json")));
        return environment.stream()
                .filter(it -> it.startsWith(NAME))
                .findFirst()
                .map(name ->
                        new Container(
                                cgroup.group(3),
                                cgroup.group(2),
                                name.substring(NAME.length()),
                                Long.parseLong(process.getFileName().toString()),
                                shares(share),
                                share.path("podUid").asText()
                                        + "/"
                                        + share.path("container").asText(),
                                devices(root.resolve("dev")),
                                environment));
    }

    private static JsonNode json(String text) {
        try {
            return JSON.readTree(text.isEmpty() ? "{}" : text);
        } catch (IOException e) {
            throw new IllegalStateException("A container reads of itself " + text, e);
        }
    }

    private static Set<String> environment(Path process) {
        return Set.copyOf(List.of(text(process.resolve("environ")).split("\0")));
    }

    /** Not that of runc, which becomes its first process, nor of one that has ended. */
    private static boolean isItsOwn(Set<String> environment) {
        return !environment.equals(Set.of(""))
                && environment.stream().noneMatch(it -> it.startsWith("_LIBCONTAINER_"));
    }

    private static List<Share> shares(JsonNode share) {
        return StreamSupport.stream(share.path("gpus").spliterator(), false)
                .map(LivingContainers::share)
                .toList();
    }

    /** As it stands in a container's {@code share.json} and in the node's grants. */
    static Share share(JsonNode gpu) {
        return new Share(
                gpu.path("uuid").asText(),
                gpu.path("core").asLong(),
                gpu.path("memoryMiB").asLong(),
                gpu.path("whole").asBoolean());
    }

    private static Set<Integer> devices(Path folder) {
        var minors = new TreeSet<Integer>();
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                if (file.getFileName().toString().matches("nvidia\\d+")) {
                    long device = ((Number) Files.getAttribute(file, "unix:rdev")).longValue();
                    minors.add((int) ((device & 0xff) | ((device >> 12) & 0xfff00)));
                }
            }
        } catch (IOException | UncheckedIOException e) {
            // It has ended; then it does not live any more.
            return Set.of();
        }
        return minors;
    }

    /** Empty if there is none, or its process has ended. */
    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            return "";
        }
    }
}
