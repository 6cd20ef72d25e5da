package io.gpusharing.webhook.tls;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.testing.SteppingClock;
import io.gpusharing.web.Pem;
import io.gpusharing.web.ServingCertificate;
import io.gpusharing.webhook.testing.FakeApiServer;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.ssl.DefaultSslBundleRegistry;
import tools.jackson.databind.JsonNode;

class CertificateRotatorTest {

    private static final String SECRET =
            "/api/v1/namespaces/gpusharing-system/secrets/gpusharing-webhook-ca";
    private static final String MUTATING =
            "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/gpusharing-webhook";
    private static final String VALIDATING =
            "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/gpusharing-webhook";
    private static final Duration SETTLING = Duration.ofSeconds(15);

    private final SteppingClock clock = new SteppingClock(Instant.parse("2026-03-10T12:00:00Z"));
    private FakeApiServer api;
    private KubernetesClient client;

    @BeforeEach
    void start() {
        api = new FakeApiServer();
        client = api.client();
        api.put(MUTATING, configuration("MutatingWebhookConfiguration", "pods"));
        api.put(VALIDATING, configuration("ValidatingWebhookConfiguration", "workloads"));
    }

    @AfterEach
    void stop() {
        client.close();
        api.close();
    }

    @Test
    void theFirstCheckCreatesAuthorityBundleAndCertificate() {
        Replica replica = replica();

        replica.check();

        assertThat(anchors(MUTATING)).containsExactly(replica.issuer());
        assertThat(anchors(VALIDATING)).containsExactly(replica.issuer());
        assertThat(api.get(SECRET)).isNotNull();
    }

    @Test
    void replicasThatStartTogetherShareOneAuthority() {
        Replica one = replica();
        Replica two = replica();

        one.check();
        two.check();

        assertThat(two.issuer()).isEqualTo(one.issuer());
        assertThat(two.leaf()).isNotEqualTo(one.leaf());
        assertThat(anchors(MUTATING)).containsExactly(one.issuer());
    }

    @Test
    void theChartsEmptySecretIsFilledAndKeepsItsLabels() {
        api.put(
                SECRET,
                """
                {"apiVersion": "v1", "kind": "Secret", "type": "Opaque",
                 "metadata": {"name": "gpusharing-webhook-ca", "namespace": "gpusharing-system",
                  "labels": {"app.kubernetes.io/managed-by": "Helm"}}}
                """);
        Replica one = replica();
        Replica two = replica();

        one.check();
        two.check();

        assertThat(two.issuer()).isEqualTo(one.issuer());
        assertThat(String.valueOf(api.get(SECRET)))
                .contains("\"app.kubernetes.io/managed-by\":\"Helm\"", "\"tls.key\"");
    }

    @Test
    void aSuccessorIsTrustedByEverybodyBeforeItIsServed() {
        Replica one = replica();
        Replica two = replica();
        one.check();
        two.check();
        X509Certificate old = one.issuer();

        clock.pass(Duration.ofDays(250));
        one.check();
        two.check();

        assertThat(anchors(MUTATING)).hasSize(2).contains(old);
        assertThat(one.issuer()).isEqualTo(old);
        assertThat(two.issuer()).isEqualTo(old);

        clock.pass(SETTLING);
        one.check();
        two.check();

        assertThat(one.issuer()).isNotEqualTo(old).isEqualTo(two.issuer());
        assertThat(anchors(MUTATING)).containsExactly(one.issuer(), old);
    }

    @Test
    void aCertificateIsRenewedWellBeforeItExpires() {
        Replica replica = replica();
        replica.check();
        X509Certificate first = replica.leaf();

        clock.pass(Duration.ofDays(4));
        replica.check();
        assertThat(replica.leaf()).isEqualTo(first);

        clock.pass(Duration.ofDays(1));
        replica.check();
        assertThat(replica.leaf()).isNotEqualTo(first);
        assertThat(replica.issuer()).isEqualTo(anchors(MUTATING).getFirst());
    }

    @Test
    void aDeletedSecretIsRestoredWithTheSameAuthority() {
        Replica replica = replica();
        replica.check();
        X509Certificate before = replica.issuer();

        api.delete(SECRET);
        replica.check();

        assertThat(api.get(SECRET)).isNotNull();
        assertThat(anchors(MUTATING)).containsExactly(before);
    }

    @Test
    void aBrokenSecretIsRestored() {
        Replica replica = replica();
        replica.check();
        X509Certificate before = replica.issuer();

        api.put(
                SECRET,
                """
                {"apiVersion": "v1", "kind": "Secret",
                 "metadata": {"name": "gpusharing-webhook-ca", "namespace": "gpusharing-system"},
                 "stringData": {"tls.crt": "nonsense"}}
                """);
        replica.check();
        Replica other = replica();
        other.check();

        assertThat(other.issuer()).isEqualTo(before);
    }

    @Test
    void anOverwrittenBundleIsRestored() {
        Replica replica = replica();
        replica.check();

        api.put(MUTATING, configuration("MutatingWebhookConfiguration", "pods"));
        replica.check();

        assertThat(anchors(MUTATING)).containsExactly(replica.issuer());
    }

    @Test
    void nothingIsWrittenWhereNothingChanged() {
        Replica replica = replica();
        replica.check();
        JsonNode before = api.get(MUTATING);

        replica.check();

        assertThat(api.get(MUTATING)).isSameAs(before);
    }

    @Test
    void aClockThatJumpsBackDoesNotMakeNewAuthorities() {
        Replica replica = replica();
        replica.check();
        X509Certificate before = replica.issuer();

        clock.pass(Duration.ofDays(-3));
        replica.check();

        assertThat(anchors(MUTATING)).containsExactly(before);
    }

    private Replica replica() {
        return new Replica();
    }

    private List<X509Certificate> anchors(String configuration) {
        String bundle =
                Objects.requireNonNull(api.get(configuration))
                        .at("/webhooks/0/clientConfig/caBundle")
                        .asString();
        return Pem.certificates(new String(Base64.getDecoder().decode(bundle), UTF_8));
    }

    private static String configuration(String kind, String name) {
        return """
        {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "%s",
         "metadata": {"name": "gpusharing-webhook"},
         "webhooks": [{"name": "%s.gpusharing.io", "clientConfig": {"url": "https://127.0.0.1:1"}}]}
        """
                .formatted(kind, name);
    }

    /** One of several pods of the webhook. */
    private final class Replica {

        private final ServingCertificate serving;
        private final CertificateRotator rotator;

        Replica() {
            var provisional = ServingCertificate.provisional(clock.instant());
            var registry = new DefaultSslBundleRegistry();
            registry.registerBundle(
                    TlsConfiguration.BUNDLE, ServingCertificate.bundle(provisional));
            serving =
                    new ServingCertificate(
                            registry,
                            TlsConfiguration.BUNDLE,
                            provisional,
                            ServingCertificate.names("webhook", "gpusharing-system", List.of()),
                            Duration.ofDays(7));
            rotator =
                    new CertificateRotator(
                            new AuthoritySecret(client, "gpusharing-system", Duration.ofDays(365)),
                            new CaBundles(client, "gpusharing-webhook"),
                            serving,
                            clock,
                            Duration.ofHours(1),
                            SETTLING);
        }

        void check() {
            rotator.reconcile(clock.instant());
        }

        X509Certificate issuer() {
            return serving.served().issuer();
        }

        X509Certificate leaf() {
            return serving.served().certificate();
        }
    }
}
