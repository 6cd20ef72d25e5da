package io.gpusharing.e2e.measurement;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.gpusharing.e2e.cluster.Repository;
import io.gpusharing.e2e.cluster.TestCluster;
import io.gpusharing.e2e.installation.Installation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * What one tenant's largest pods cost the others: many of them are created at the same moment,
 * while somebody else creates usual pods, and one pod as large, one after the other. The same flood
 * in {@code kube-system}, which admission leaves alone, shows what of it is the API server's own.
 *
 * <p>Beside the waits it reports the longest time between two renewals of the timekeeper's lease.
 */
public final class FloodCost {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int AT_ONCE = Integer.getInteger("pods", 120);
    private static final int WAVES = Integer.getInteger("waves", 3);
    private static final int LARGE = 1_300_000;
    private static final int VARIABLE = 10_000;
    private static final int QUIET_PODS = 200;
    private static final String FLOOD = "flood";
    private static final String OTHERS = "others";
    private static final String ALONE = "kube-system";

    private final TestCluster cluster;

    private final Renewals renewals = new Renewals();

    private FloodCost(TestCluster cluster) {
        this.cluster = cluster;
        cluster.client()
                .leases()
                .inNamespace(Installation.NAMESPACE)
                .withName("gpusharing-timekeeper")
                .watch(renewals);
    }

    public static void main(String[] arguments) throws Exception {
        Path dir = Repository.root().resolve(".run/flood");
        try (TestCluster cluster = TestCluster.start(dir)) {
            Installation.on(cluster, Map.of());
            cluster.createNamespace(FLOOD);
            cluster.createNamespace(OTHERS);
            for (String namespace : List.of(FLOOD, OTHERS, ALONE)) {
                cluster.kubectl()
                        .run(
                                "create",
                                "rolebinding",
                                "tenants",
                                "--clusterrole=admin",
                                "--user=" + FLOOD,
                                "--user=" + OTHERS,
                                "--namespace=" + namespace)
                        .orFail();
            }
            ObjectNode result = new FloodCost(cluster).measure();
            System.out.println(result.toPrettyString());
            if (arguments.length > 0) {
                Files.writeString(Path.of(arguments[0]), result.toPrettyString() + "\n");
            }
        }
    }

    private ObjectNode measure() throws Exception {
        ObjectNode result = JSON.createObjectNode();
        result.put("when", Instant.now().toString());
        result.put("kubernetes", cluster.client().getKubernetesVersion().getGitVersion());
        result.put("processors", Runtime.getRuntime().availableProcessors());
        result.put("at_once", AT_ONCE);
        result.put("waves", WAVES);
        result.put("bytes_each", LARGE);
        // What comes first warms everything up.
        flooded("warm-up", FLOOD);
        result.set("quiet", quiet());
        result.set("without_us", flooded("alone", ALONE));
        result.set("with_us", flooded("ours", FLOOD));
        return result;
    }

    private ObjectNode quiet() {
        var waits = new ArrayList<Duration>();
        try (KubernetesClient client = client(OTHERS, 1)) {
            for (int i = 0; i < QUIET_PODS; i++) {
                waits.add(created(client, pod("quiet-" + i, OTHERS, 0)));
            }
        }
        ObjectNode result = JSON.createObjectNode();
        summarize(result.putObject("usual_pods"), waits);
        return result;
    }

    private ObjectNode flooded(String name, String namespace) throws Exception {
        Instant from = Instant.now();
        var usual = new Bystander(name + "-usual", 0);
        var large = new Bystander(name + "-large", LARGE);
        var refused = new AtomicInteger();
        var waits = new ArrayList<Duration>();
        try (KubernetesClient client = client(FLOOD, AT_ONCE)) {
            usual.thread.start();
            large.thread.start();
            for (int wave = 0; wave < WAVES; wave++) {
                wave(client, name, wave, namespace, waits, refused);
                delete(namespace, "--selector=flood=" + name);
            }
        } finally {
            usual.end();
            large.end();
        }
        Instant until = Instant.now();
        delete(OTHERS, "--all");
        ObjectNode result = JSON.createObjectNode();
        result.put("seconds", Duration.between(from, until).toSeconds());
        summarize(result.putObject("usual_pods"), usual.waits);
        summarize(result.putObject("large_pods"), large.waits);
        summarize(result.putObject("flood"), waits);
        result.put("refused_of_the_flood", refused.get());
        result.put("refused_of_others", usual.refused + large.refused);
        result.put("longest_between_renewals_ms", renewals.longest(from, until).toMillis());
        return result;
    }

    private void delete(String namespace, String which) {
        cluster.kubectl()
                .run("delete", "pods", which, "--namespace=" + namespace, "--wait=false")
                .orFail();
    }

    private static void wave(
            KubernetesClient client,
            String name,
            int wave,
            String namespace,
            List<Duration> waits,
            AtomicInteger refused)
            throws InterruptedException {
        var begin = new CountDownLatch(1);
        var threads = new ArrayList<Thread>();
        for (int i = 0; i < AT_ONCE; i++) {
            Pod pod = pod("%s-%d-%d".formatted(name, wave, i), namespace, LARGE);
            pod.getMetadata().setLabels(Map.of("flood", name));
            threads.add(
                    Thread.ofVirtual()
                            .start(() -> {
                                try {
                                    begin.await();
                                    Duration wait = created(client, pod);
                                    synchronized (waits) {
                                        waits.add(wait);
                                    }
                                } catch (KubernetesClientException e) {
                                    System.err.println(e.getMessage());
                                    refused.incrementAndGet();
                                } catch (InterruptedException e) {
                                    Thread.currentThread().interrupt();
                                }
                            }));
        }
        begin.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
    }

    /** Somebody who creates one pod after the other. */
    private final class Bystander {

        private final List<Duration> waits = new ArrayList<>();
        private final Thread thread;
        private int refused;
        private volatile boolean ended;

        Bystander(String name, int bytes) {
            thread = Thread.ofPlatform().name(name).unstarted(() -> create(name, bytes));
        }

        private void create(String name, int bytes) {
            try (KubernetesClient client = client(OTHERS, 1)) {
                for (int i = 0; !ended; i++) {
                    try {
                        waits.add(created(client, pod(name + "-" + i, OTHERS, bytes)));
                    } catch (KubernetesClientException e) {
                        refused++;
                    }
                }
            }
        }

        void end() throws InterruptedException {
            ended = true;
            thread.join();
        }
    }

    private static Duration created(KubernetesClient client, Pod pod) {
        long began = System.nanoTime();
        client.resource(pod).create();
        return Duration.ofNanos(System.nanoTime() - began);
    }

    /** Kept from the scheduler, so that nothing but creations goes on. */
    private static Pod pod(String name, String namespace, int bytes) {
        var builder =
                new PodBuilder()
                        .withNewMetadata()
                        .withName(name)
                        .withNamespace(namespace)
                        .endMetadata()
                        .withNewSpec()
                        .withSchedulerName("nobody")
                        .addNewContainer()
                        .withName("main")
                        .withImage("main")
                        .withNewResources()
                        .addToLimits("tencent.com/vcuda-core", new Quantity("10"))
                        .addToLimits("tencent.com/vcuda-memory", new Quantity("1"))
                        .endResources();
        for (int variable = 0; variable < bytes / VARIABLE; variable++) {
            builder.addNewEnv().withName("V" + variable).withValue("x".repeat(VARIABLE)).endEnv();
        }
        return builder.endContainer().endSpec().build();
    }

    /** A tenant's, for the API server lets administrators pass before all others. */
    private KubernetesClient client(String user, int requests) {
        return new KubernetesClientBuilder()
                .withConfig(
                        new ConfigBuilder(cluster.client().getConfiguration())
                                .withImpersonateUsername(user)
                                .withMaxConcurrentRequests(requests + 1)
                                .withMaxConcurrentRequestsPerHost(requests + 1)
                                .withRequestTimeout(120_000)
                                .withRequestRetryBackoffLimit(0)
                                .build())
                .build();
    }

    /** Keeps when each renewal of the timekeeper's lease that succeeded was asked for. */
    private static final class Renewals implements Watcher<Lease> {

        private final List<Instant> times = new ArrayList<>();

        @Override
        public synchronized void eventReceived(Action action, Lease lease) {
            times.add(lease.getSpec().getRenewTime().toInstant());
        }

        @Override
        public void onClose(WatcherException cause) {
            throw new IllegalStateException("The lease is no longer watched", cause);
        }

        synchronized Duration longest(Instant from, Instant until) {
            Instant last = from;
            Duration longest = Duration.ZERO;
            for (Instant time : times) {
                if (time.isAfter(last) && time.isBefore(until)) {
                    longest = max(longest, Duration.between(last, time));
                    last = time;
                }
            }
            return max(longest, Duration.between(last, until));
        }
    }

    private static Duration max(Duration one, Duration other) {
        return one.compareTo(other) >= 0 ? one : other;
    }

    private static void summarize(ObjectNode target, List<Duration> all) {
        target.put("pods", all.size());
        if (!all.isEmpty()) {
            Percentiles.write(target, all);
            target.put("longest_ms", Collections.max(all).toMillis());
        }
    }
}
