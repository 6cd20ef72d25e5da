package io.gpusharing.web;

import javax.net.ssl.SSLContext;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.pem.PemSslStore;
import org.springframework.boot.ssl.pem.PemSslStoreBundle;

/** TLS that trusts the given authorities and no others. */
public final class TrustAnchors {

    private TrustAnchors() {}

    /**
     * @param pem one certificate or several
     * @throws IllegalArgumentException if there is none in it, or anything else
     */
    public static SSLContext trusting(String pem) {
        return SslBundle.of(
                        new PemSslStoreBundle(null, PemSslStore.of(Pem.certificates(pem), null)))
                .createSslContext();
    }
}
