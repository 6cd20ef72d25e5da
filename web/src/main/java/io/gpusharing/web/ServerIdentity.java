package io.gpusharing.web;

import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;

/**
 * What a server proves itself with. Lives in memory only.
 *
 * @param key private key of the certificate
 * @param certificate the leaf
 * @param issuer the authority that signed it
 */
public record ServerIdentity(PrivateKey key, X509Certificate certificate, X509Certificate issuer) {

    /** When two thirds of the time from issue to expiry have passed: time for a successor. */
    public Instant renewAt() {
        Instant from = certificate.getNotBefore().toInstant();
        Duration validity = Duration.between(from, certificate.getNotAfter().toInstant());
        return from.plus(validity.multipliedBy(2).dividedBy(3));
    }
}
