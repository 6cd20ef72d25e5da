package io.gpusharing.e2e.measurement;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.gpusharing.e2e.measurement.LivingContainers.Container;
import io.gpusharing.e2e.measurement.LivingContainers.Share;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/**
 * Holds what the living containers of a real node have of its GPUs against what their pods asked
 * for and what the device plugin has written down.
 */
final class FractionAudit {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int MIB_A_BLOCK = 256;
    private static final Path GRANTS = Path.of("/var/lib/gpusharing/grants.json");
    private static final Path SHARES = Path.of("/run/gpusharing");
    private static final Path CDI = Path.of("/var/run/cdi");
    private static final Path SOCKETS = Path.of("/var/lib/kubelet/device-plugins");

    private static final List<String> OFFERED =
            Stream.of("core", "memory")
                    .map(it -> SOCKETS + "/gpusharing-tencent.com-vcuda-%s.sock".formatted(it))
                    .toList();

    private final LivingContainers living;
    private final Map<String, Long> memoryMiB = new HashMap<>();
    private final Map<String, Integer> minors = new HashMap<>();
    private final Map<String, Map<String, Ask>> asked = new HashMap<>();
    private final Set<String> containers = new HashSet<>();
    private final Set<String> faults = new TreeSet<>();
    private int looks;
    private int mostAtOnce;

    /**
     * What a container asks for.
     *
     * @param blocks of memory; 0 for whole GPUs, which are multiples of 100 core
     */
    record Ask(long core, long blocks) {
        String limits() {
            return blocks == 0
                    ? "tencent.com/vcuda-core: " + core
                    : "tencent.com/vcuda-core: %d, tencent.com/vcuda-memory: %d"
                            .formatted(core, blocks);
        }
    }

    /**
     * @param gpus the node's, as its GpuNode has them
     */
    FractionAudit(LivingContainers living, JsonNode gpus) {
        this.living = living;
        for (JsonNode gpu : gpus) {
            memoryMiB.put(gpu.path("uuid").asText(), gpu.path("memoryMiB").asLong());
            minors.put(gpu.path("uuid").asText(), gpu.path("minor").asInt());
        }
    }

    /** From now on containers of this pod are looked at. */
    synchronized void expect(String podUid, Map<String, Ask> asks) {
        asked.put(podUid, asks);
    }

    /** How many containers lived at one of the looks. */
    synchronized int containers() {
        return containers.size();
    }

    synchronized int looks() {
        return looks;
    }

    synchronized int mostAtOnce() {
        return mostAtOnce;
    }

    /** What was wrong, each once. */
    synchronized Set<String> faults() {
        return Set.copyOf(faults);
    }

    /** Something is wrong. */
    synchronized void add(String fault) {
        if (faults.add(fault)) {
            System.out.println(fault);
        }
    }

    /** Looks once. */
    synchronized void look() throws IOException {
        List<Container> all = living.now();
        looks++;
        mostAtOnce = Math.max(mostAtOnce, all.size());
        crowded(all).forEach(this::add);
        JsonNode grants = JSON.readTree(Files.exists(GRANTS) ? Files.readString(GRANTS) : "{}");
        for (Container container : all) {
            containers.add(container.id());
            Map<String, Ask> asks = asked.get(container.podUid());
            if (asks != null) {
                List<String> wrong = wrong(container, asks.get(container.name()), grants);
                // Who has ended meanwhile has lost its files and its grant.
                if (!wrong.isEmpty() && LivingContainers.lives(container)) {
                    wrong.forEach(this::add);
                }
            }
        }
    }

    private List<String> wrong(Container container, @Nullable Ask ask, JsonNode grants) {
        var wrong = new ArrayList<String>();
        String who = "container %s of pod %s".formatted(container.name(), container.podUid());
        List<Share> shares = container.shares();
        if (ask == null || !isAsWanted(ask, shares)) {
            wrong.add("%s asked for %s and has %s".formatted(who, ask, shares));
        }
        if (!container.shareOf().equals(container.podUid() + "/" + container.name())) {
            wrong.add("%s reads the share of %s".formatted(who, container.shareOf()));
        }
        Set<String> visible =
                container.environment().stream()
                        .filter(it -> it.startsWith("NVIDIA_VISIBLE_DEVICES="))
                        .collect(Collectors.toSet());
        if (!visible.equals(Set.of("NVIDIA_VISIBLE_DEVICES=void"))) {
            wrong.add("%s has the environment %s".formatted(who, visible));
        }
        Set<Integer> own =
                shares.stream().map(share -> minors.get(share.gpu())).collect(Collectors.toSet());
        if (!own.equals(container.devices())) {
            wrong.add("%s has the devices %s for %s".formatted(who, container.devices(), own));
        }
        Set<Share> granted = granted(container, grants);
        if (!granted.equals(Set.copyOf(shares))) {
            wrong.add("%s has %s and was granted %s".formatted(who, shares, granted));
        }
        return wrong;
    }

    private static boolean isAsWanted(Ask ask, List<Share> shares) {
        return ask.core() >= 100
                ? shares.size() == ask.core() / 100 && shares.stream().allMatch(Share::whole)
                : shares.size() == 1
                        && shares.getFirst().core() == ask.core()
                        && shares.getFirst().memoryMiB() == ask.blocks() * MIB_A_BLOCK;
    }

    private static Set<Share> granted(Container container, JsonNode grants) {
        return children(grants.path("pods"))
                .filter(pod -> pod.path("uid").asText().equals(container.podUid()))
                .flatMap(pod -> children(pod.path("containers")))
                .filter(it -> it.path("name").asText().equals(container.name()))
                .flatMap(it -> children(it.path("gpus")))
                .map(LivingContainers::share)
                .collect(Collectors.toSet());
    }

    private static Stream<JsonNode> children(JsonNode list) {
        return StreamSupport.stream(list.spliterator(), false);
    }

    /** Which GPUs have more holders than they have room for, in words. */
    private List<String> crowded(List<Container> living) {
        var crowded = new ArrayList<String>();
        living.stream()
                .flatMap(it -> it.shares().stream())
                .collect(Collectors.groupingBy(Share::gpu))
                .forEach((gpu, all) -> {
                    long core = all.stream().mapToLong(Share::core).sum();
                    long memory = all.stream().mapToLong(Share::memoryMiB).sum();
                    boolean sharesWhole = all.size() > 1 && all.stream().anyMatch(Share::whole);
                    if (core > 100 || memory > memoryMiB.getOrDefault(gpu, 0L) || sharesWhole) {
                        crowded.add("%s has the shares %s".formatted(gpu, all));
                    }
                });
        return crowded;
    }

    /** What is left of pods that are gone, in words. */
    List<String> left() {
        var left = new ArrayList<String>();
        living.now().forEach(it -> left.add("container " + it.id()));
        for (Path folder : List.of(SHARES, CDI)) {
            left.addAll(files(folder));
        }
        left.addAll(files(SOCKETS));
        left.removeAll(OFFERED);
        try {
            JsonNode grants = JSON.readTree(Files.readString(GRANTS)).path("pods");
            children(grants).forEach(pod -> left.add("grant of " + pod.path("name").asText()));
        } catch (IOException e) {
            left.add("no grants: " + e);
        }
        return left;
    }

    /** Ours. */
    private static List<String> files(Path folder) {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(Path::toString)
                    .filter(file -> folder.equals(SHARES) || file.contains("/gpusharing-"))
                    .toList();
        } catch (IOException e) {
            return List.of("cannot list " + folder);
        }
    }
}
