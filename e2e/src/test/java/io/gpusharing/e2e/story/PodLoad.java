package io.gpusharing.e2e.story;

import io.fabric8.kubernetes.api.model.DeletionPropagation;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;

/**
 * Pods that come and go in every way there is: jobs that complete by themselves, pods that are
 * deleted with grace and without, pods that wait for a node, some until they are deleted.
 */
final class PodLoad implements AutoCloseable {

    private static final int MAX_AT_ONCE = 14;

    /** Every second pod waits at least as long for its node. */
    private static final Duration SHORTEST_WAIT = Duration.ofSeconds(10);

    /** Prefix of a label that one pod waits for. */
    private static final String PLACE = "example.com/";

    private final KubernetesClient client;
    private final List<String> namespaces;
    private final RandomGenerator random;
    private final Deque<Running> running = new ArrayDeque<>();
    private final PriorityQueue<Waiting> waiting =
            new PriorityQueue<>(Comparator.comparing(Waiting::until));
    private final Duration longestWait;
    private final Steps steps;
    private final AtomicInteger created = new AtomicInteger();
    private final AtomicInteger placed = new AtomicInteger();
    private final AtomicInteger refused = new AtomicInteger();

    private record Running(String namespace, String name) {}

    /** A pod that no node admits until then. */
    private record Waiting(Running pod, Instant until) {}

    /**
     * @param between from one pod to the next
     * @param longestWait most pods wait for their node, none longer than that
     */
    PodLoad(
            KubernetesClient client,
            List<String> namespaces,
            RandomGenerator random,
            Duration between,
            Duration longestWait) {
        this.client = client;
        this.namespaces = List.copyOf(namespaces);
        this.random = random;
        this.longestWait = longestWait;
        this.steps = new Steps("load", () -> between, this::tryStep);
    }

    void start() {
        steps.start();
    }

    /** How many pods and jobs were created. */
    int created() {
        return created.get();
    }

    /** How many of them waited ten seconds or more and then got a node. */
    int placed() {
        return placed.get();
    }

    /** How often the API server did not do what it was asked. */
    int refused() {
        return refused.get();
    }

    /** Ends it, and all it has created. */
    @Override
    public void close() {
        steps.close();
        for (String namespace : namespaces) {
            client.batch()
                    .v1()
                    .jobs()
                    .inNamespace(namespace)
                    .withPropagationPolicy(DeletionPropagation.BACKGROUND)
                    .delete();
            client.pods().inNamespace(namespace).delete();
        }
    }

    /** As a user who tries again after a refusal. */
    private void tryStep() {
        try {
            step();
        } catch (KubernetesClientException e) {
            refused.incrementAndGet();
            System.out.println("refused: " + e.getMessage());
        }
    }

    private void step() {
        placeWhoHasWaited();
        String namespace = namespaces.get(random.nextInt(namespaces.size()));
        int core = random.nextInt(1, 5) * 10;
        if (random.nextInt(4) == 0) {
            client.resource(job(namespace, core, random.nextInt(1, 6))).create();
        } else {
            String name = "pod-" + created.get();
            boolean waits = random.nextInt(5) > 0;
            client.resource(pod(namespace, name, core, waits)).create();
            var pod = new Running(namespace, name);
            if (waits) {
                waiting.add(new Waiting(pod, Instant.now().plus(howLong())));
            } else {
                running.addLast(pod);
            }
        }
        created.incrementAndGet();
        if (running.size() > random.nextInt(2, MAX_AT_ONCE)) {
            delete(running.removeFirst());
        }
    }

    private Duration howLong() {
        return Duration.ofMillis(
                random.nextLong(SHORTEST_WAIT.toMillis(), longestWait.toMillis() + 1));
    }

    /** A node gets the labels that pods have waited for long enough, until they are deleted. */
    private void placeWhoHasWaited() {
        if (waiting.isEmpty() || waiting.element().until().isAfter(Instant.now())) {
            return;
        }
        while (!waiting.isEmpty() && !waiting.element().until().isAfter(Instant.now())) {
            running.addLast(waiting.remove().pod());
            placed.incrementAndGet();
        }
        Map<String, String> places =
                running.stream()
                        .collect(Collectors.toMap(pod -> PLACE + pod.name(), pod -> "here"));
        client.nodes()
                .withName("gpu-node-1")
                .edit(node -> {
                    node.getMetadata().getLabels().keySet().removeIf(it -> it.startsWith(PLACE));
                    node.getMetadata().getLabels().putAll(places);
                    return node;
                });
    }

    private void delete(Running pod) {
        var resource = client.pods().inNamespace(pod.namespace()).withName(pod.name());
        if (random.nextInt(3) == 0) {
            // Removed at once: no kubelet has the time to write a terminal phase.
            resource.withGracePeriod(0).delete();
        } else {
            resource.delete();
        }
    }

    private static String job(String namespace, int core, int seconds) {
        return """
        apiVersion: batch/v1
        kind: Job
        metadata: {generateName: job-, namespace: %s}
        spec:
          template:
            metadata: {annotations: {workshop/run-for: %ds}}
            spec:
              restartPolicy: Never
              containers:
              - name: cuda
                image: cuda
                resources: {limits: {tencent.com/vcuda-core: %d, tencent.com/vcuda-memory: 10}}
        """
                .formatted(namespace, seconds, core);
    }

    static String pod(String namespace, String name, int core, boolean waits) {
        return """
        apiVersion: v1
        kind: Pod
        metadata: {name: %s, namespace: %s}
        spec:
          nodeSelector: {%s}
          containers:
          - name: cuda
            image: cuda
            resources: {limits: {tencent.com/vcuda-core: %d, tencent.com/vcuda-memory: 10}}
        """
                .formatted(name, namespace, waits ? PLACE + name + ": here" : "", core);
    }
}
