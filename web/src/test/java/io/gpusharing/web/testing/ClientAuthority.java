package io.gpusharing.web.testing;

import io.gpusharing.web.CertificateAuthority;
import io.gpusharing.web.ServerIdentity;
import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import javax.security.auth.x500.X500Principal;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.ExtendedKeyUsage;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.KeyPurposeId;
import org.bouncycastle.asn1.x509.KeyUsage;
import org.bouncycastle.cert.CertIOException;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;

/** Signs certificates of clients, as a cluster's client CA does. */
public final class ClientAuthority {

    private final CertificateAuthority authority;
    private final Instant now;

    /** A new one, for ten years. */
    public ClientAuthority(Instant now) {
        this(CertificateAuthority.create("kubernetes", now, Duration.ofDays(3650)), now);
    }

    /** One that there is, perhaps with an RSA key. */
    public ClientAuthority(CertificateAuthority authority, Instant now) {
        this.authority = authority;
        this.now = now;
    }

    /** By which its certificates are known. */
    public X509Certificate certificate() {
        return authority.certificate();
    }

    /**
     * A client's certificate for a year, and its key.
     *
     * @param subject for instance {@code O=system:nodes,CN=system:node:a}
     */
    public ServerIdentity client(String subject) {
        return certified(subject, KeyPurposeId.id_kp_clientAuth);
    }

    /** One that is over since an hour. */
    public ServerIdentity expired(String subject) {
        return issue(
                subject,
                now.minus(Duration.ofHours(1)),
                new BasicConstraints(false),
                KeyPurposeId.id_kp_clientAuth);
    }

    /** A server's. */
    public ServerIdentity server(String subject) {
        return certified(subject, KeyPurposeId.id_kp_serverAuth);
    }

    /** One for these purposes, or for any if none is named. */
    public ServerIdentity certified(String subject, KeyPurposeId... purposes) {
        return issue(
                subject, now.plus(Duration.ofDays(365)), new BasicConstraints(false), purposes);
    }

    /**
     * An authority below this one.
     *
     * @param purposes of what it signs; none if anything
     */
    public ClientAuthority below(String subject, KeyPurposeId... purposes) {
        ServerIdentity made =
                issue(
                        subject,
                        now.plus(Duration.ofDays(365)),
                        new BasicConstraints(true),
                        purposes);
        return new ClientAuthority(new CertificateAuthority(made.certificate(), made.key()), now);
    }

    private String algorithm() {
        return authority.key().getAlgorithm().equals("RSA") ? "SHA256withRSA" : "SHA256withECDSA";
    }

    private ServerIdentity issue(
            String subject, Instant end, BasicConstraints constraints, KeyPurposeId... purposes) {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec("secp256r1"));
            KeyPair pair = generator.generateKeyPair();
            var builder =
                    new JcaX509v3CertificateBuilder(
                            certificate().getSubjectX500Principal(),
                            BigInteger.valueOf(System.nanoTime()),
                            Date.from(now.minus(Duration.ofDays(1))),
                            Date.from(end),
                            new X500Principal(subject),
                            pair.getPublic());
            builder.addExtension(Extension.basicConstraints, true, constraints);
            builder.addExtension(
                    Extension.keyUsage,
                    true,
                    constraints.isCA()
                            ? new KeyUsage(KeyUsage.keyCertSign)
                            : new KeyUsage(KeyUsage.digitalSignature | KeyUsage.keyEncipherment));
            if (purposes.length > 0) {
                builder.addExtension(
                        Extension.extendedKeyUsage, false, new ExtendedKeyUsage(purposes));
            }
            return new ServerIdentity(
                    pair.getPrivate(),
                    new JcaX509CertificateConverter()
                            .getCertificate(
                                    builder.build(
                                            new JcaContentSignerBuilder(algorithm())
                                                    .build(authority.key()))),
                    certificate());
        } catch (GeneralSecurityException | OperatorCreationException | CertIOException e) {
            throw new IllegalStateException(e);
        }
    }
}
