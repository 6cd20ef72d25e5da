package io.gpusharing.webhook.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpusharing.testing.SteppingClock;
import io.gpusharing.web.CertificateAuthority;
import io.gpusharing.web.Pem;
import io.gpusharing.web.ServerIdentity;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.context.annotation.Configuration;

/** Certificates that somebody else makes and mounts, as cert-manager does. */
class MountedCertificateTest {

    private static final Instant NOW = Instant.parse("2026-03-10T12:00:00Z");
    private static final String NAME = "gpusharing-webhook.gpusharing-system.svc";

    @TempDir private Path directory;

    private final SteppingClock clock = new SteppingClock(NOW);
    private final CertificateAuthority authority =
            CertificateAuthority.create("somebody", NOW, Duration.ofDays(365));

    @Test
    void withoutAMountedCertificateItIsNotReadyAndNamesThePath() {
        assertThat(mounted().missing()).startsWith(directory + " holds no tls.crt");
        assertThat(mounted().expiresAt()).isEqualTo(Instant.EPOCH);
    }

    @Test
    void aMountedCertificateIsServedAndTrusted() throws Exception {
        X509Certificate leaf = mount(Duration.ofDays(90));

        assertThat(mounted().missing()).isNull();
        assertThat(mounted().serverName()).isEqualTo(NAME);
        assertThat(mounted().expiresAt()).isEqualTo(leaf.getNotAfter().toInstant());
        assertThat(Pem.certificates(Objects.requireNonNull(mounted().trustedBundle())))
                .containsExactly(authority.certificate());
    }

    @Test
    void anExpiredCertificateIsReported() throws Exception {
        mount(Duration.ofDays(90));
        clock.pass(Duration.ofDays(91));

        assertThat(mounted().missing()).contains("tls.crt expired at");
    }

    @Test
    void theBundleThatTheChartConfiguresFollowsTheFiles() throws Exception {
        X509Certificate first = mount(Duration.ofDays(90));
        try (var context =
                new SpringApplicationBuilder(Bundles.class)
                        .web(WebApplicationType.NONE)
                        .run(
                                "--spring.ssl.bundle.pem.admission.reload-on-update=true",
                                "--spring.ssl.bundle.pem.admission.keystore.certificate=file:%s/tls.crt"
                                        .formatted(directory),
                                "--spring.ssl.bundle.pem.admission.keystore.private-key=file:%s/tls.key"
                                        .formatted(directory),
                                "--spring.ssl.bundle.watch.file.quiet-period=100ms")) {
            SslBundles bundles = context.getBean(SslBundles.class);
            assertThat(served(bundles)).isEqualTo(first);

            X509Certificate renewed = mount(Duration.ofDays(91));

            await().untilAsserted(() -> assertThat(served(bundles)).isEqualTo(renewed));
        }
    }

    private static X509Certificate served(SslBundles bundles) throws GeneralSecurityException {
        KeyStore store =
                Objects.requireNonNull(
                        bundles.getBundle(TlsConfiguration.BUNDLE).getStores().getKeyStore());
        return (X509Certificate) store.getCertificate(store.aliases().nextElement());
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(SslAutoConfiguration.class)
    static class Bundles {}

    private MountedCertificate mounted() {
        return new MountedCertificate(directory, NAME, clock);
    }

    private X509Certificate mount(Duration validity) throws IOException {
        ServerIdentity identity = authority.issue(List.of(NAME), NOW, validity);
        Files.writeString(directory.resolve("tls.key"), Pem.of(identity.key()));
        Files.writeString(directory.resolve("tls.crt"), Pem.of(identity.certificate()));
        Files.writeString(directory.resolve("ca.crt"), Pem.of(authority.certificate()));
        return identity.certificate();
    }
}
