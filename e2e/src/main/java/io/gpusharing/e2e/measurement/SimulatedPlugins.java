package io.gpusharing.e2e.measurement;

import static java.util.Objects.requireNonNull;
import static java.util.function.Function.identity;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.mapping;
import static java.util.stream.Collectors.toList;
import static java.util.stream.Collectors.toMap;

import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.e2e.installation.SimulatedGpuNode;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The device plugins of simulated nodes: each writes into its {@code GpuNode} who runs on which
 * GPU, and takes it back some time after that pod's end, as one does that waits for the last
 * process.
 */
final class SimulatedPlugins implements AutoCloseable {

    private static final int MIB_A_BLOCK = 256;
    private static final Duration BETWEEN = Duration.ofMillis(400);

    private final KubernetesClient client;
    private final RandomGenerator random;
    private final Duration longestDelay;
    private final Map<String, SimulatedGpuNode> nodes;
    private final Map<String, Grant> grants = new HashMap<>();
    private final Set<String> unwritten = new HashSet<>();
    private final Set<String> refused = new HashSet<>();
    private final Thread thread = Thread.ofVirtual().name("plugins").unstarted(this::run);

    /** What one container has of one GPU, and when that is taken back once its pod has ended. */
    private record Grant(
            String node, String gpu, Map<String, Object> entry, String pod, Instant until) {}

    /**
     * @param longestDelay how long after a pod's end its grants stay at most
     */
    SimulatedPlugins(
            KubernetesClient client,
            List<SimulatedGpuNode> nodes,
            Duration longestDelay,
            RandomGenerator random) {
        this.client = client;
        this.nodes = nodes.stream().collect(toMap(SimulatedGpuNode::node, identity()));
        this.longestDelay = longestDelay;
        this.random = random;
    }

    void start() {
        nodes.values().forEach(SimulatedGpuNode::create);
        thread.start();
    }

    /** How many pods had to wait for what others still had. */
    synchronized int refused() {
        return refused.size();
    }

    /** Whether nobody has anything any more. */
    synchronized boolean idle() {
        return grants.isEmpty() && unwritten.isEmpty();
    }

    @Override
    public void close() {
        thread.interrupt();
    }

    private void run() {
        try {
            while (true) {
                try {
                    look();
                } catch (KubernetesClientException e) {
                    // The API server is killed again and again; what was not written is written
                    // later.
                }
                Thread.sleep(BETWEEN);
            }
        } catch (InterruptedException e) {
            return;
        }
    }

    private synchronized void look() {
        Instant now = Instant.now();
        Map<String, Pod> running =
                client
                        .pods()
                        .inAnyNamespace()
                        .list(new ListOptionsBuilder().withResourceVersion("0").build())
                        .getItems()
                        .stream()
                        .filter(pod -> "Running".equals(pod.getStatus().getPhase()))
                        .collect(toMap(pod -> pod.getMetadata().getUid(), identity()));
        Set<String> changed = new HashSet<>(unwritten);
        grants.replaceAll((_, grant) ->
                running.containsKey(grant.pod()) || !grant.until().equals(Instant.MAX)
                        ? grant
                        : new Grant(
                                grant.node(),
                                grant.gpu(),
                                grant.entry(),
                                grant.pod(),
                                now.plus(delay())));
        grants.values()
                .removeIf(grant -> {
                    boolean over = !grant.until().isAfter(now);
                    if (over) {
                        changed.add(grant.node());
                    }
                    return over;
                });
        running.values().forEach(pod -> grant(pod, changed));
        unwritten.clear();
        unwritten.addAll(changed);
        for (String node : changed) {
            write(requireNonNull(nodes.get(node)));
            unwritten.remove(node);
        }
    }

    private Duration delay() {
        return Duration.ofMillis(random.nextLong(longestDelay.toMillis() + 1));
    }

    /** All that it was placed on, or nothing: what does not fit yet is tried again. */
    private void grant(Pod pod, Set<String> changed) {
        String placement = pod.getMetadata().getAnnotations().get("gpusharing.io/placement");
        if (placement == null) {
            return;
        }
        String node = pod.getSpec().getNodeName();
        String uid = pod.getMetadata().getUid();
        var wanted = new HashMap<String, Grant>();
        List<String> parts = List.of(placement.split(";", -1));
        for (String part : parts.subList(1, parts.size())) {
            String container = part.substring(0, part.indexOf('='));
            for (String gpu : part.substring(part.indexOf('=') + 1).split(",", -1)) {
                wanted.put(
                        uid + "/" + container + "/" + gpu,
                        new Grant(node, gpu, entry(pod, container), uid, Instant.MAX));
            }
        }
        if (grants.keySet().containsAll(wanted.keySet())) {
            return;
        }
        var all = new HashMap<>(grants);
        all.putAll(wanted);
        if (wanted.values().stream().map(Grant::gpu).allMatch(gpu -> fits(all.values(), gpu))) {
            grants.putAll(wanted);
            changed.add(node);
        } else {
            refused.add(uid);
        }
    }

    private static boolean fits(Collection<Grant> grants, String gpu) {
        List<Map<String, Object>> on =
                grants.stream().filter(it -> it.gpu().equals(gpu)).map(Grant::entry).toList();
        return sum(on, "core") <= 100 && sum(on, "memoryMiB") <= SimulatedGpuNode.MEMORY_MIB;
    }

    private static long sum(List<Map<String, Object>> entries, String what) {
        return entries.stream().mapToLong(it -> (Long) requireNonNull(it.get(what))).sum();
    }

    private static Map<String, Object> entry(Pod pod, String container) {
        var limits =
                pod.getSpec().getContainers().stream()
                        .filter(it -> it.getName().equals(container))
                        .findFirst()
                        .orElseThrow()
                        .getResources()
                        .getLimits();
        long core = Math.min(100, amount(limits.get("tencent.com/vcuda-core")));
        long memory = amount(limits.get("tencent.com/vcuda-memory")) * MIB_A_BLOCK;
        return Map.of(
                "podUid",
                pod.getMetadata().getUid(),
                "namespace",
                pod.getMetadata().getNamespace(),
                "pod",
                pod.getMetadata().getName(),
                "container",
                container,
                "kind",
                "App",
                "core",
                core,
                "memoryMiB",
                core == 100 ? SimulatedGpuNode.MEMORY_MIB : memory);
    }

    private static long amount(@Nullable Quantity quantity) {
        return quantity == null ? 0 : Long.parseLong(quantity.getAmount());
    }

    private void write(SimulatedGpuNode node) {
        node.grant(
                grants.values().stream()
                        .filter(grant -> grant.node().equals(node.node()))
                        .collect(groupingBy(Grant::gpu, mapping(Grant::entry, toList()))));
    }
}
