package io.gpusharing.scheduler.access;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.testing.SteppingClock;
import io.gpusharing.web.Pem;
import io.gpusharing.web.PublishedAuthority;
import io.gpusharing.web.ServerIdentity;
import io.gpusharing.web.ServingCertificate;
import io.gpusharing.web.testing.ClientAuthority;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.ssl.DefaultSslBundleRegistry;

class CertificateTaskTest {

    private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");
    private static final Duration VALIDITY = Duration.ofDays(7);

    private final SteppingClock clock = new SteppingClock(NOW);
    private final ClientAuthority clients = new ClientAuthority(NOW);
    private final ReviewingApiServer apiServer = new ReviewingApiServer();
    private final KubernetesClient client = apiServer.client();
    private Path clientAuthority;
    private ServingCertificate serving;
    private ClientAuthorities authorities;
    private CertificateTask task;

    @BeforeEach
    void make(@TempDir Path folder) throws Exception {
        apiServer.trust(clients.certificate());
        clientAuthority = folder.resolve("ca.crt");
        Files.writeString(clientAuthority, "no certificate yet");
        AccessProperties properties = properties(clientAuthority);
        ServerIdentity provisional = ServingCertificate.provisional(NOW);
        serving =
                new ServingCertificate(
                        new DefaultSslBundleRegistry(
                                "extender", ServingCertificate.bundle(provisional)),
                        "extender",
                        provisional,
                        List.of("localhost"),
                        VALIDITY);
        authorities = new ClientAuthorities(client, properties);
        task =
                new CertificateTask(
                        properties,
                        authorities,
                        new PublishedAuthority(
                                client,
                                "gpusharing-system",
                                "gpusharing-scheduler-ca",
                                "test",
                                Duration.ofDays(3650)),
                        serving,
                        clock);
    }

    static AccessProperties properties(@Nullable Path clientAuthority) {
        return new AccessProperties(
                true,
                List.of("system:kube-scheduler"),
                clientAuthority,
                "gpusharing-system",
                "gpusharing-scheduler",
                List.of(),
                "gpusharing-scheduler-ca",
                Duration.ofDays(3650),
                VALIDITY);
    }

    @AfterEach
    void end() {
        client.close();
        apiServer.close();
    }

    private void siteTrusts(X509Certificate authority) throws Exception {
        Files.writeString(clientAuthority, Pem.of(authority));
    }

    private Instant served() {
        return serving.served().certificate().getNotAfter().toInstant();
    }

    @Test
    void whatClientsAreKnownByIsMissedAndTheServingCertificateIsRenewedAllTheSame()
            throws Exception {
        siteTrusts(clients.certificate());
        task.check();
        assertThat(task.health().getStatus()).isEqualTo(Status.UP);
        Instant first = served();

        Files.writeString(clientAuthority, "no certificate");
        apiServer.hideAuthority();
        clock.pass(VALIDITY.minusHours(1));
        task.check();

        assertThat(served()).isAfter(first);
        // Those whom it knew it knows.
        assertThat(task.health().getStatus()).isEqualTo(Status.UP);
        assertThat(authorities.ofSchedulers().isEmpty()).isFalse();
    }

    @Test
    void nobodyIsSentToUsBeforeClientsAreKnown() throws Exception {
        task.check();

        assertThat(task.health().getStatus()).isEqualTo(Status.DOWN);
        assertThat(task.health().getDetails().get("reason"))
                .asString()
                .startsWith("the site's client CA");

        siteTrusts(clients.certificate());
        clock.pass(Duration.ofSeconds(1));
        task.check();
        assertThat(task.health().getStatus()).isEqualTo(Status.UP);
    }

    @Test
    void whereTheServingCertificateEndsAndCannotBeRenewedNobodyIsSentToUs() throws Exception {
        siteTrusts(clients.certificate());
        task.check();
        apiServer.close();

        clock.set(served().minus(Duration.ofHours(1)));
        task.check();
        assertThat(task.health().getStatus()).isEqualTo(Status.UP);

        clock.set(served().minus(Duration.ofSeconds(30)));
        task.check();
        assertThat(task.health().getStatus()).isEqualTo(Status.DOWN);
        assertThat(task.health().getDetails().get("reason"))
                .asString()
                .startsWith("the serving certificate ends at ");
    }
}
