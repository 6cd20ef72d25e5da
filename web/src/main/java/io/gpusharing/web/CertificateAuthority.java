package io.gpusharing.web;

import java.io.IOException;
import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import javax.security.auth.x500.X500Principal;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.ExtendedKeyUsage;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.asn1.x509.KeyPurposeId;
import org.bouncycastle.asn1.x509.KeyUsage;
import org.bouncycastle.cert.X509v3CertificateBuilder;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509ExtensionUtils;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;
import org.bouncycastle.util.IPAddress;

/**
 * Who signs our serving certificates. Keys are P-256, signatures ECDSA with SHA-256, serial numbers
 * random.
 *
 * @param certificate the anchor that clients trust
 * @param key its private key
 */
public record CertificateAuthority(X509Certificate certificate, PrivateKey key) {

    /** Clocks of the cluster's machines may differ, also by a wrong time zone. */
    private static final Duration BACKDATED = Duration.ofDays(1);

    private static final SecureRandom RANDOM = new SecureRandom();

    /**
     * Makes a new authority, valid from a day before {@code now}.
     *
     * @param name common name, at most 64 characters
     * @param validity how long after {@code now} it stays valid
     */
    public static CertificateAuthority create(String name, Instant now, Duration validity) {
        try {
            KeyPair pair = newKeyPair();
            var subject = new X500Principal("CN=" + name);
            var extensions = new JcaX509ExtensionUtils();
            X509v3CertificateBuilder builder =
                    certificate(subject, subject, pair.getPublic(), now, now.plus(validity))
                            .addExtension(Extension.basicConstraints, true, new BasicConstraints(0))
                            .addExtension(
                                    Extension.keyUsage,
                                    true,
                                    new KeyUsage(KeyUsage.keyCertSign | KeyUsage.cRLSign))
                            .addExtension(
                                    Extension.subjectKeyIdentifier,
                                    false,
                                    extensions.createSubjectKeyIdentifier(pair.getPublic()));
            return new CertificateAuthority(sign(builder, pair.getPrivate()), pair.getPrivate());
        } catch (GeneralSecurityException | IOException | OperatorCreationException e) {
            throw new IllegalStateException("This JVM cannot make P-256 certificates", e);
        }
    }

    /**
     * Issues a certificate for a server, with a new key, valid from a day before {@code now} and
     * never longer than the authority itself.
     *
     * @param names DNS names and IP addresses the server is reached by, at least one
     * @param validity how long after {@code now} it stays valid
     */
    public ServerIdentity issue(List<String> names, Instant now, Duration validity) {
        try {
            KeyPair pair = newKeyPair();
            Instant end = now.plus(validity);
            Instant last = certificate.getNotAfter().toInstant();
            var extensions = new JcaX509ExtensionUtils();
            X509v3CertificateBuilder builder =
                    certificate(
                                    certificate.getSubjectX500Principal(),
                                    new X500Principal("CN=gpusharing"),
                                    pair.getPublic(),
                                    now,
                                    end.isBefore(last) ? end : last)
                            .addExtension(
                                    Extension.basicConstraints, true, new BasicConstraints(false))
                            .addExtension(
                                    Extension.keyUsage,
                                    true,
                                    new KeyUsage(KeyUsage.digitalSignature))
                            .addExtension(
                                    Extension.extendedKeyUsage,
                                    false,
                                    new ExtendedKeyUsage(KeyPurposeId.id_kp_serverAuth))
                            .addExtension(
                                    Extension.subjectAlternativeName,
                                    false,
                                    alternativeNames(names))
                            .addExtension(
                                    Extension.subjectKeyIdentifier,
                                    false,
                                    extensions.createSubjectKeyIdentifier(pair.getPublic()))
                            .addExtension(
                                    Extension.authorityKeyIdentifier,
                                    false,
                                    extensions.createAuthorityKeyIdentifier(
                                            certificate.getPublicKey()));
            return new ServerIdentity(pair.getPrivate(), sign(builder, key), certificate);
        } catch (GeneralSecurityException | IOException | OperatorCreationException e) {
            throw new IllegalStateException("This JVM cannot make P-256 certificates", e);
        }
    }

    private static X509v3CertificateBuilder certificate(
            X500Principal issuer, X500Principal subject, PublicKey key, Instant now, Instant end) {
        return new JcaX509v3CertificateBuilder(
                issuer,
                new BigInteger(159, RANDOM).setBit(0),
                Date.from(now.minus(BACKDATED)),
                Date.from(end),
                subject,
                key);
    }

    private static X509Certificate sign(X509v3CertificateBuilder builder, PrivateKey key)
            throws GeneralSecurityException, OperatorCreationException {
        return new JcaX509CertificateConverter()
                .getCertificate(
                        builder.build(new JcaContentSignerBuilder("SHA256withECDSA").build(key)));
    }

    private static GeneralNames alternativeNames(List<String> names) {
        return new GeneralNames(
                names.stream()
                        .map(name ->
                                new GeneralName(
                                        IPAddress.isValid(name)
                                                ? GeneralName.iPAddress
                                                : GeneralName.dNSName,
                                        name))
                        .toArray(GeneralName[]::new));
    }

    private static KeyPair newKeyPair() throws GeneralSecurityException {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec("secp256r1"), RANDOM);
        return generator.generateKeyPair();
    }
}
