package io.gpusharing.web;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** TLS that trusts the given authorities and no others. */
public final class TrustAnchors {

    private TrustAnchors() {}

    /**
     * @param pem one certificate or several
     * @throws IllegalArgumentException if there is anything else in it
     */
    public static SSLContext trusting(String pem) {
        try {
            KeyStore anchors = KeyStore.getInstance("PKCS12");
            anchors.load(null, null);
            int number = 0;
            for (X509Certificate certificate : Pem.certificates(pem)) {
                anchors.setCertificateEntry("ca-" + number++, certificate);
            }
            var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(anchors);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, trust.getTrustManagers(), null);
            return context;
        } catch (GeneralSecurityException | IOException e) {
            throw new IllegalStateException("This JVM cannot trust a certificate", e);
        }
    }
}
