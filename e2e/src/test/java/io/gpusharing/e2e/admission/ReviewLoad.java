package io.gpusharing.e2e.admission;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.admissionregistration.v1.MutatingWebhookConfiguration;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.gpusharing.web.TrustAnchors;
import java.io.IOException;
import java.net.URI;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;

/**
 * Sends reviews to the webhook as an API server does: it trusts the caBundle as it is published at
 * that instant, keeps connections open, and opens new ones when the bundle changes. Every tenth
 * review opens a new one anyway, so that new certificates are met soon.
 */
final class ReviewLoad implements AutoCloseable {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int FRESH = 10;
    private static final int AT_ONCE = 8;

    /** Milliseconds; how long the API server waits. */
    private static final int PATIENCE = 3000;

    private final List<URI> replicas;
    private final SharedIndexInformer<MutatingWebhookConfiguration> published;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final Semaphore connections = new Semaphore(AT_ONCE);
    private final AtomicInteger answered = new AtomicInteger();
    private final Queue<String> problems = new ConcurrentLinkedQueue<>();
    private final Map<URI, Set<String>> authorities = new ConcurrentHashMap<>();
    private final Map<URI, Set<String>> leaves = new ConcurrentHashMap<>();
    private volatile @Nullable SSLSocketFactory trust;
    private volatile boolean running = true;

    /**
     * Begins to ask the replicas in turn.
     *
     * @param aSecond how many reviews; those that a busy machine delays are sent later
     */
    ReviewLoad(KubernetesClient client, List<URI> replicas, int aSecond) {
        this.replicas = replicas;
        this.published =
                client.admissionRegistration()
                        .v1()
                        .mutatingWebhookConfigurations()
                        .withName("gpusharing-webhook")
                        .inform(
                                new ResourceEventHandler<>() {
                                    @Override
                                    public void onAdd(MutatingWebhookConfiguration found) {
                                        trust = trusting(found);
                                    }

                                    @Override
                                    public void onUpdate(
                                            MutatingWebhookConfiguration before,
                                            MutatingWebhookConfiguration found) {
                                        trust = trusting(found);
                                    }

                                    @Override
                                    public void onDelete(
                                            MutatingWebhookConfiguration last, boolean unknown) {}
                                });
        threads.execute(() -> askAll(aSecond));
    }

    /** Reviews that were allowed with a patch. */
    int answered() {
        return answered.get();
    }

    /** Why the others were not. */
    Collection<String> problems() {
        return problems;
    }

    /** How many authorities have signed what this replica served. */
    int authoritiesOf(URI replica) {
        return authorities.getOrDefault(replica, Set.of()).size();
    }

    /** How many certificates this replica has served. */
    int leavesOf(URI replica) {
        return leaves.getOrDefault(replica, Set.of()).size();
    }

    private void askAll(int aSecond) {
        long began = System.nanoTime();
        try {
            for (int i = 0; running; i++) {
                long due = began + i * TimeUnit.SECONDS.toNanos(1) / aSecond;
                TimeUnit.NANOSECONDS.sleep(due - System.nanoTime());
                connections.acquire();
                int number = i;
                threads.execute(() -> ask(number));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void ask(int number) {
        URI replica = replicas.get(number % replicas.size());
        try {
            problem(replica, number).ifPresentOrElse(problems::add, answered::incrementAndGet);
        } catch (IOException e) {
            problems.add(Instant.now() + " " + replica + " " + e);
        } finally {
            connections.release();
        }
    }

    private Optional<String> problem(URI replica, int number) throws IOException {
        var connection =
                (HttpsURLConnection) replica.resolve("/mutate?timeout=3s").toURL().openConnection();
        connection.setSSLSocketFactory(trust);
        connection.setConnectTimeout(PATIENCE);
        connection.setReadTimeout(PATIENCE);
        connection.setRequestProperty("Content-Type", "application/json");
        if (number / replicas.size() % FRESH == 0) {
            connection.setRequestProperty("Connection", "close");
        }
        connection.setDoOutput(true);
        connection.getOutputStream().write(review(number));
        int code = connection.getResponseCode();
        if (code != 200) {
            return Optional.of(Instant.now() + " " + replica + " HTTP " + code);
        }
        Certificate[] chain = connection.getServerCertificates();
        seen(leaves, replica, chain[0]);
        seen(authorities, replica, chain[1]);
        try (var body = connection.getInputStream()) {
            JsonNode response = JSON.readTree(body).path("response");
            boolean yes =
                    response.path("allowed").asBoolean()
                            && response.path("uid").asText().equals("load-" + number)
                            && response.has("patch");
            return yes ? Optional.empty() : Optional.of(response.toString());
        }
    }

    private static void seen(Map<URI, Set<String>> what, URI replica, Certificate certificate) {
        what.computeIfAbsent(replica, each -> ConcurrentHashMap.newKeySet())
                .add(((X509Certificate) certificate).getSerialNumber().toString(16));
    }

    private static byte[] review(int number) throws IOException {
        ObjectNode review = JSON.createObjectNode();
        review.put("apiVersion", "admission.k8s.io/v1").put("kind", "AdmissionReview");
        ObjectNode request = review.putObject("request");
        request.put("uid", "load-" + number).put("operation", "CREATE").put("namespace", "load");
        request.putObject("kind").put("group", "").put("version", "v1").put("kind", "Pod");
        request.putObject("userInfo").put("username", "load");
        request.set("object", Pods.halfAGpu("pod-" + number));
        request.put("dryRun", true);
        return JSON.writeValueAsBytes(review);
    }

    private static SSLSocketFactory trusting(MutatingWebhookConfiguration configuration) {
        String bundle = configuration.getWebhooks().getFirst().getClientConfig().getCaBundle();
        return TrustAnchors.trusting(new String(Base64.getDecoder().decode(bundle), UTF_8))
                .getSocketFactory();
    }

    @Override
    public void close() {
        running = false;
        published.close();
        threads.close();
    }
}
