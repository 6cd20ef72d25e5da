package io.gpusharing.deviceplugin.cluster;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.Collection;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;
import org.jspecify.annotations.Nullable;

/**
 * Trusts the certificates of one PEM file and no others. The file is read again for each handshake,
 * which are few: kubelet replaces it when the cluster's CA changes.
 */
final class CaFile extends X509ExtendedTrustManager {

    private final Path pem;
    private String read = "";
    private @Nullable X509ExtendedTrustManager trusted;

    CaFile(Path pem) {
        this.pem = pem;
    }

    private synchronized X509ExtendedTrustManager trusted() throws CertificateException {
        try {
            String now = Files.readString(pem, StandardCharsets.US_ASCII);
            if (trusted == null || !now.equals(read)) {
                trusted = trusting(now);
                read = now;
            }
            return trusted;
        } catch (IOException | GeneralSecurityException e) {
            throw new CertificateException("Cannot read certificates to trust from " + pem, e);
        }
    }

    private static X509ExtendedTrustManager trusting(String pem)
            throws IOException, GeneralSecurityException {
        Collection<? extends Certificate> certificates =
                CertificateFactory.getInstance("X.509")
                        .generateCertificates(
                                new ByteArrayInputStream(pem.getBytes(StandardCharsets.US_ASCII)));
        if (certificates.isEmpty()) {
            throw new GeneralSecurityException("it holds none");
        }
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        int number = 0;
        for (Certificate certificate : certificates) {
            store.setCertificateEntry("ca" + number++, certificate);
        }
        TrustManagerFactory factory =
                TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(store);
        for (TrustManager manager : factory.getTrustManagers()) {
            if (manager instanceof X509ExtendedTrustManager trusting) {
                return trusting;
            }
        }
        throw new GeneralSecurityException("this Java cannot check certificates");
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
            throws CertificateException {
        trusted().checkServerTrusted(chain, authType, engine);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket)
            throws CertificateException {
        trusted().checkServerTrusted(chain, authType, socket);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType)
            throws CertificateException {
        trusted().checkServerTrusted(chain, authType);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
            throws CertificateException {
        throw noServer();
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket)
            throws CertificateException {
        throw noServer();
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType)
            throws CertificateException {
        throw noServer();
    }

    private static CertificateException noServer() {
        return new CertificateException("This is a client");
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
        return new X509Certificate[0];
    }
}
