package io.gpusharing.e2e.story;

import io.fabric8.kubernetes.api.model.DeletionPropagation;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;

/**
 * Pods that come and go in every way there is: jobs that complete by themselves, pods that are
 * deleted with grace and without, pods that wait for a node, some until they are deleted.
 */
final class PodLoad implements AutoCloseable {

    private static final Duration BETWEEN = Duration.ofMillis(300);
    private static final int MOST_AT_ONCE = 14;

    /** For so many steps no node has the label that some pods want, then for as many one has it. */
    private static final int WAIT = 50;

    private static final String PLACE = "example.com/place";

    private final KubernetesClient client;
    private final List<String> namespaces;
    private final RandomGenerator random;
    private final Thread thread = Thread.ofVirtual().name("load").unstarted(this::run);
    private final Deque<Running> running = new ArrayDeque<>();
    private final Deque<Running> waiting = new ArrayDeque<>();
    private volatile boolean open = true;
    private final AtomicInteger created = new AtomicInteger();
    private int steps;
    private volatile RuntimeException problem = new IllegalStateException("never started");

    private record Running(String namespace, String name) {}

    PodLoad(KubernetesClient client, List<String> namespaces, RandomGenerator random) {
        this.client = client;
        this.namespaces = List.copyOf(namespaces);
        this.random = random;
    }

    void start() {
        thread.start();
    }

    /** How many pods and jobs were created. */
    int created() {
        return created.get();
    }

    /**
     * Ends it, and all it has created.
     *
     * @throws IllegalStateException if the API server refused something
     */
    @Override
    public void close() {
        open = false;
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (created.get() == 0) {
            throw problem;
        }
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

    private void run() {
        try {
            while (open) {
                step();
                TimeUnit.NANOSECONDS.sleep(BETWEEN.toNanos());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (KubernetesClientException e) {
            problem = e;
        }
    }

    private void step() {
        if (steps++ % WAIT == 0) {
            place(steps % (2 * WAIT) > WAIT);
        }
        String namespace = namespaces.get(random.nextInt(namespaces.size()));
        int core = random.nextInt(1, 5) * 10;
        if (random.nextInt(3) == 0) {
            client.resource(job(namespace, core, random.nextInt(1, 6))).create();
        } else {
            String name = "pod-" + created.get();
            boolean waits = random.nextInt(4) == 0;
            client.resource(pod(namespace, name, core, waits)).create();
            (waits ? waiting : running).addLast(new Running(namespace, name));
        }
        created.incrementAndGet();
        if (running.size() > random.nextInt(2, MOST_AT_ONCE)) {
            delete(running.removeFirst());
        }
    }

    /** What a fourth of the pods wait for. One that runs needs it no more. */
    private void place(boolean there) {
        if (there) {
            running.addAll(waiting);
            waiting.clear();
        }
        client.nodes()
                .withName("gpu-node-1")
                .edit(node ->
                        new NodeBuilder(node)
                                .editMetadata()
                                .removeFromLabels(PLACE)
                                .addToLabels(there ? Map.of(PLACE, "here") : Map.of())
                                .endMetadata()
                                .build());
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

    private static String pod(String namespace, String name, int core, boolean waits) {
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
                .formatted(name, namespace, waits ? PLACE + ": here" : "", core);
    }
}
