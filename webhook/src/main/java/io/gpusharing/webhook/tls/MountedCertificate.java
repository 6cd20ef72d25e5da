package io.gpusharing.webhook.tls;

import io.gpusharing.web.Pem;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Instant;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/**
 * A certificate that somebody else makes, renews and gives to API servers, such as cert-manager:
 * the files of its Secret, mounted. Spring Boot's bundle serves them and follows their changes;
 * here they are read again each time somebody asks.
 */
final class MountedCertificate implements Certificates {

    private final Path directory;
    private final String serverName;
    private final Clock clock;

    /**
     * @param directory with {@code tls.crt} and {@code ca.crt}
     * @param serverName one of the certificate's names
     */
    MountedCertificate(Path directory, String serverName, Clock clock) {
        this.directory = directory;
        this.serverName = serverName;
        this.clock = clock;
    }

    @Override
    public @Nullable String missing() {
        X509Certificate certificate = certificate();
        if (certificate == null || trustedBundle() == null) {
            return "%s holds no tls.crt and ca.crt that can be read".formatted(directory);
        }
        return certificate.getNotAfter().toInstant().isBefore(clock.instant())
                ? "%s/tls.crt expired at %s".formatted(directory, expiresAt())
                : null;
    }

    @Override
    public @Nullable String trustedBundle() {
        return text("ca.crt");
    }

    @Override
    public String serverName() {
        return serverName;
    }

    @Override
    public Instant expiresAt() {
        X509Certificate certificate = certificate();
        return certificate == null ? Instant.EPOCH : certificate.getNotAfter().toInstant();
    }

    private @Nullable X509Certificate certificate() {
        String pem = text("tls.crt");
        try {
            return pem == null ? null : Pem.certificates(pem).getFirst();
        } catch (IllegalArgumentException | NoSuchElementException e) {
            return null;
        }
    }

    private @Nullable String text(String file) {
        try {
            return Files.readString(directory.resolve(file));
        } catch (IOException e) {
            return null;
        }
    }
}
