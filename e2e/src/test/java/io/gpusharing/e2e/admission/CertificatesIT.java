package io.gpusharing.e2e.admission;

import static io.gpusharing.e2e.admission.AdmissionCluster.eventually;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.gpusharing.web.CertificateAuthority;
import io.gpusharing.web.Pem;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;

/** Certificates that change during reviews. Two replicas share one authority. */
@OnAdmissionCluster
@Order(OnAdmissionCluster.LAST + 2)
class CertificatesIT {

    private static final String SECRET =
            "/api/v1/namespaces/gpusharing-system/secrets/gpusharing-webhook-ca";
    private static final String CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/";
    private static final List<String> OURS =
            List.of(
                    CONFIGURATIONS + "mutatingwebhookconfigurations/gpusharing-webhook",
                    CONFIGURATIONS + "validatingwebhookconfigurations/gpusharing-webhook");
    private static final String NAMESPACE = "certificates";

    /**
     * Certificates begin to be valid a day before they are made and are followed when two thirds of
     * their time have passed. With 24 seconds more than 12 hours to live, the authority is followed
     * every 16 seconds; with 4 hours, a leaf at every check.
     */
    private static final Map<String, String> SHORT_LIVED =
            Map.of(
                    "GPUSHARING_TLS_AUTHORITYVALIDITY", "PT12H24S",
                    "GPUSHARING_TLS_CERTIFICATEVALIDITY", "PT4H",
                    "GPUSHARING_TLS_CHECKINTERVAL", "1s",
                    "GPUSHARING_TLS_SETTLING", "5s");

    private final AdmissionCluster cluster;
    private final Api api;

    CertificatesIT(AdmissionCluster cluster) {
        this.cluster = cluster;
        this.api = cluster.api();
    }

    @BeforeAll
    static void start(AdmissionCluster cluster) {
        cluster.withoutWebhook();
        cluster.api().delete(SECRET);
        cluster.withWebhook(SHORT_LIVED);
        cluster.namespace(NAMESPACE);
    }

    @Test
    void authorityAndLeavesChangeUnderLoadAndNoReviewIsRefused() {
        try (var load = new ReviewLoad(cluster.cluster().client(), cluster.webhookUrls(), 200)) {
            await("4 000 reviews, and new certificates of both replicas")
                    .atMost(Duration.ofMinutes(2))
                    .pollInterval(Duration.ofMillis(100))
                    .until(() -> {
                        api.dryRun(NAMESPACE, Pods.halfAGpu("a")).orFail();
                        return load.answered() >= 4_000
                                && cluster.webhookUrls().stream()
                                        .allMatch(replica ->
                                                load.authoritiesOf(replica) >= 2
                                                        && load.leavesOf(replica) >= 3);
                    });

            assertThat(load.problems()).isEmpty();
        }
    }

    @Test
    void aDeletedSecretIsRestoredWithoutAFailedReview() {
        X509Certificate before = Pem.certificates(secret("tls.crt")).getFirst();

        api.delete(SECRET).orFail();

        eventually("the Secret is back").until(() -> api.get(SECRET).accepted());
        assertThat(Pem.certificates(secret("ca.crt")))
                .as("the same authority, or its successor that still trusts it")
                .contains(before);
        api.dryRun(NAMESPACE, Pods.halfAGpu("a")).orFail();
    }

    @Test
    void aBrokenSecretIsRestored() {
        X509Certificate before = Pem.certificates(secret("tls.crt")).getFirst();

        api.merge(SECRET, "{stringData: {tls.crt: nonsense, ca.crt: nonsense}}").orFail();

        eventually("the Secret is mended").until(() -> !secret("ca.crt").equals("nonsense"));
        assertThat(Pem.certificates(secret("ca.crt"))).contains(before);
    }

    @Test
    void anOverwrittenCaBundleIsRestored() {
        String somebodys =
                base64(
                        Pem.of(
                                CertificateAuthority.create(
                                                "somebody", Instant.now(), Duration.ofDays(1))
                                        .certificate()));

        for (String configuration : OURS) {
            api.patch(
                            configuration,
                            "{webhooks: [{name: %s, clientConfig: {caBundle: %s}}]}"
                                    .formatted(webhook(configuration), somebodys))
                    .orFail();
        }

        for (String configuration : OURS) {
            eventually(configuration + " is mended")
                    .until(
                            () -> caBundle(configuration),
                            bundle -> bundle.equals(base64(secret("ca.crt"))));
        }
        eventually("the API server uses it")
                .until(() -> api.dryRun(NAMESPACE, Pods.halfAGpu("a")).accepted());
    }

    private String webhook(String configuration) {
        return api.get(configuration).orFail().at("/webhooks/0/name").asText();
    }

    private String caBundle(String configuration) {
        return api.get(configuration).orFail().at("/webhooks/0/clientConfig/caBundle").asText();
    }

    private String secret(String key) {
        JsonNode data = api.get(SECRET).orFail().path("data");
        return new String(Base64.getDecoder().decode(data.path(key).asText()), UTF_8);
    }

    private static String base64(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(UTF_8));
    }
}
