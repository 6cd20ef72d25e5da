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
        return issue(subject, now.plus(Duration.ofDays(365)), KeyPurposeId.id_kp_clientAuth);
    }

    /** One that is over since an hour. */
    public ServerIdentity expired(String subject) {
        return issue(subject, now.minus(Duration.ofHours(1)), KeyPurposeId.id_kp_clientAuth);
    }

    /** A server's. */
    public ServerIdentity server(String subject) {
        return issue(subject, now.plus(Duration.ofDays(365)), KeyPurposeId.id_kp_serverAuth);
    }

    private String algorithm() {
        return authority.key().getAlgorithm().equals("RSA") ? "SHA256withRSA" : "SHA256withECDSA";
    }

    private ServerIdentity issue(String subject, Instant end, KeyPurposeId purpose) {
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
            builder.addExtension(Extension.basicConstraints, true, new BasicConstraints(false));
            builder.addExtension(
                    Extension.keyUsage,
                    true,
                    new KeyUsage(KeyUsage.digitalSignature | KeyUsage.keyEncipherment));
            builder.addExtension(Extension.extendedKeyUsage, false, new ExtendedKeyUsage(purpose));
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
