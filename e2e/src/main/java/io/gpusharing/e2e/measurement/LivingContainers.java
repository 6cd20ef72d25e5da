package io.gpusharing.e2e.measurement;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
     * A container that lives and was given GPUs.
     *
     * @param id containerd's
     * @param shares by what it may read of itself
     * @param devices minor numbers of the GPUs that it can open
     */
    record Container(
            String id,
            String podUid,
            String name,
            long process,
            List<Share> shares,
            Set<Integer> devices,
            Set<String> environment) {}

    /** All that lived at one instant: that of this method's return, or a moment before. */
    List<Container> now() {
        Map<String, Container> found = new LinkedHashMap<>();
        try (Stream<Path> processes = Files.list(PROC)) {
            for (Path process : processes.filter(LivingContainers::isProcess).toList()) {
                read(process).ifPresent(it -> found.putIfAbsent(it.id(), it));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return found.values().stream().filter(LivingContainers::lives).toList();
    }

    /** Whether the process by which it was found lives still. */
    static boolean lives(Container container) {
        return text(PROC.resolve(Long.toString(container.process())).resolve("cgroup"))
                .contains(container.id());
    }

    private static boolean isProcess(Path folder) {
        return folder.getFileName().toString().matches("\\d+");
    }

    private Optional<Container> read(Path process) {
        Matcher cgroup = CGROUP.matcher(text(process.resolve("cgroup")));
        if (!cgroup.find() || !cgroup.group(1).equals(node)) {
            return Optional.empty();
        }
        Path root = process.resolve("root");
        String share = text(root.resolve("run/gpusharing/share.json"));
        Set<String> environment = Set.copyOf(List.of(text(process.resolve("environ")).split("\0")));
        if (share.isEmpty() || isRuncOrZombie(environment)) {
            return Optional.empty();
        }
        try {
            JsonNode json = JSON.readTree(share);
            return Optional.of(
                    new Container(
                            cgroup.group(3),
                            cgroup.group(2),
                            json.path("container").asText(),
                            Long.parseLong(process.getFileName().toString()),
                            shares(json),
                            devices(root.resolve("dev")),
                            environment));
        } catch (IOException e) {
            throw new IllegalStateException("A container sees " + share, e);
        }
    }

    /** It becomes the container's first process, or has ended: that has no environment. */
    private static boolean isRuncOrZombie(Set<String> environment) {
        return environment.equals(Set.of(""))
                || environment.stream().anyMatch(it -> it.startsWith("_LIBCONTAINER_"));
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
            files.map(file -> file.getFileName().toString())
                    .filter(name -> name.matches("nvidia\\d+"))
                    .forEach(name -> minors.add(Integer.valueOf(name.substring(6))));
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
