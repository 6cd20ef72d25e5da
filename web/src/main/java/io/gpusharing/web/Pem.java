package io.gpusharing.web;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateEncodingException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;

/** Certificates and private keys as text (RFC 7468). */
public final class Pem {

    private static final Base64.Encoder LINES =
            Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII));

    private Pem() {}

    /** All certificates, one after the other. */
    public static String of(Collection<X509Certificate> certificates) {
        return certificates.stream()
                .map(certificate -> block("CERTIFICATE", encoded(certificate)))
                .collect(Collectors.joining());
    }

    /** One certificate. */
    public static String of(X509Certificate certificate) {
        return of(List.of(certificate));
    }

    /** A private key, PKCS #8. */
    public static String of(PrivateKey key) {
        return block("PRIVATE KEY", key.getEncoded());
    }

    /**
     * Reads all certificates in the text.
     *
     * @throws IllegalArgumentException if there is anything else in it
     */
    public static List<X509Certificate> certificates(String pem) {
        try {
            Collection<? extends Certificate> read =
                    CertificateFactory.getInstance("X.509")
                            .generateCertificates(
                                    new ByteArrayInputStream(
                                            pem.getBytes(StandardCharsets.US_ASCII)));
            return read.stream().map(X509Certificate.class::cast).toList();
        } catch (CertificateException e) {
            throw new IllegalArgumentException("These are not certificates in PEM", e);
        }
    }

    /**
     * Reads an elliptic-curve private key in PKCS #8.
     *
     * @throws IllegalArgumentException if it is something else
     */
    public static PrivateKey privateKey(String pem) {
        try {
            String body = pem.replaceAll("-----(BEGIN|END) PRIVATE KEY-----|\\s", "");
            return KeyFactory.getInstance("EC")
                    .generatePrivate(new PKCS8EncodedKeySpec(Base64.getDecoder().decode(body)));
        } catch (GeneralSecurityException | IllegalArgumentException e) {
            // The cause would quote the key.
            throw new IllegalArgumentException("This is not an EC private key in PKCS #8 PEM");
        }
    }

    private static byte[] encoded(X509Certificate certificate) {
        try {
            return certificate.getEncoded();
        } catch (CertificateEncodingException e) {
            throw new IllegalArgumentException("A certificate without an encoding", e);
        }
    }

    private static String block(String label, byte[] content) {
        return "-----BEGIN %s-----\n%s\n-----END %s-----\n"
                .formatted(label, LINES.encodeToString(content), label);
    }
}
