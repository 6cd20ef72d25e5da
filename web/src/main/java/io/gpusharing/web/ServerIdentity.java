package io.gpusharing.web;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
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

    /** Alias of the one entry of {@link #keyStore}. */
    public static final String ALIAS = "server";

    /** A PKCS #12 store in memory, without a password, holding the key and its chain. */
    public KeyStore keyStore() {
        try {
            KeyStore store = KeyStore.getInstance("PKCS12");
            store.load(null, null);
            store.setKeyEntry(ALIAS, key, null, new Certificate[] {certificate, issuer});
            return store;
        } catch (GeneralSecurityException | IOException e) {
            throw new IllegalStateException("This JVM cannot make a key store in memory", e);
        }
    }

    /** When two thirds of the time from issue to expiry have passed: time for a successor. */
    public Instant renewAt() {
        Instant from = certificate.getNotBefore().toInstant();
        Duration validity = Duration.between(from, certificate.getNotAfter().toInstant());
        return from.plus(validity.multipliedBy(2).dividedBy(3));
    }
}
