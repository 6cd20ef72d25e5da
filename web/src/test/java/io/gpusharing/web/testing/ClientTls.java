package io.gpusharing.web.testing;

import io.gpusharing.web.ServerIdentity;
import java.security.cert.X509Certificate;
import java.util.List;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.pem.PemSslStore;
import org.springframework.boot.ssl.pem.PemSslStoreBundle;

/** TLS as a client of ours has it. */
public final class ClientTls {

    private ClientTls() {}

    /**
     * @param shown what the client shows of itself; null for nothing
     * @param trusted the authority of whom it talks to
     */
    public static SSLContext of(@Nullable ServerIdentity shown, X509Certificate trusted) {
        return SslBundle.of(
                        new PemSslStoreBundle(
                                shown == null
                                        ? null
                                        : PemSslStore.of(List.of(shown.certificate()), shown.key()),
                                PemSslStore.of(List.of(trusted), null)))
                .createSslContext();
    }
}
