package io.gpusharing.e2e.cluster;

import io.gpusharing.web.CertificateAuthority;
import io.gpusharing.web.Pem;
import io.gpusharing.web.ServerIdentity;
import io.gpusharing.web.testing.ClientAuthority;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import org.bouncycastle.openssl.PEMKeyPair;
import org.bouncycastle.openssl.PEMParser;
import org.bouncycastle.openssl.jcajce.JcaPEMKeyConverter;

/** Clients that a cluster's API server knows by their certificates. */
public final class ClientIdentities {

    private ClientIdentities() {}

    /**
     * A new one, signed by the cluster's own client authority.
     *
     * @param subject for instance {@code O=research,CN=ada}: group and user
     */
    public static ServerIdentity of(TestCluster cluster, String subject) {
        Path authority = cluster.authority();
        try (var keys = new PEMParser(Files.newBufferedReader(authority.resolve("ca.key")))) {
            return new ClientAuthority(
                            new CertificateAuthority(
                                    Pem.certificates(Files.readString(authority.resolve("ca.crt")))
                                            .getFirst(),
                                    new JcaPEMKeyConverter()
                                            .getKeyPair((PEMKeyPair) keys.readObject())
                                            .getPrivate()),
                            Instant.now())
                    .client(subject);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
