package io.gpusharing.webhook.tls;

import io.gpusharing.web.CertificateAuthority;
import io.gpusharing.web.Pem;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The authority that all replicas share, and the one before it, which still vouches for
 * certificates that other replicas serve.
 *
 * @param current who signs now
 * @param previous who signed before; at most one
 */
record TrustedAuthority(CertificateAuthority current, Optional<X509Certificate> previous) {

    private static final String NAME = "gpusharing-webhook";
    private static final String CERTIFICATE = "tls.crt";
    private static final String KEY = "tls.key";
    private static final String BUNDLE = "ca.crt";

    /** The first one of an installation. */
    static TrustedAuthority first(Instant now, Duration validity) {
        return new TrustedAuthority(
                CertificateAuthority.create(NAME, now, validity), Optional.empty());
    }

    /** The next one, which keeps this one trusted. */
    TrustedAuthority successor(Instant now, Duration validity) {
        return new TrustedAuthority(
                CertificateAuthority.create(NAME, now, validity),
                Optional.of(current.certificate()));
    }

    /** When two thirds of the time have passed. */
    boolean isDueAt(Instant now) {
        Instant from = current.certificate().getNotBefore().toInstant();
        Instant to = current.certificate().getNotAfter().toInstant();
        return !now.isBefore(from.plus(Duration.between(from, to).multipliedBy(2).dividedBy(3)));
    }

    /** What API servers trust, PEM. */
    String bundle() {
        return Pem.of(Stream.concat(Stream.of(current.certificate()), previous.stream()).toList());
    }

    /** As it is kept in the Secret. */
    Map<String, String> data() {
        return Map.of(
                CERTIFICATE, Pem.of(current.certificate()),
                KEY, Pem.of(current.key()),
                BUNDLE, bundle());
    }

    /**
     * As it was kept.
     *
     * @return empty if something is missing or unreadable
     */
    static Optional<TrustedAuthority> read(Map<String, String> data) {
        try {
            X509Certificate certificate =
                    Pem.certificates(data.getOrDefault(CERTIFICATE, "")).getFirst();
            List<X509Certificate> bundle = Pem.certificates(data.getOrDefault(BUNDLE, ""));
            return Optional.of(
                    new TrustedAuthority(
                            new CertificateAuthority(
                                    certificate, Pem.privateKey(data.getOrDefault(KEY, ""))),
                            bundle.stream().filter(each -> !each.equals(certificate)).findFirst()));
        } catch (IllegalArgumentException | NoSuchElementException e) {
            return Optional.empty();
        }
    }
}
