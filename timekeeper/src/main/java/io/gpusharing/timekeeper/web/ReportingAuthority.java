package io.gpusharing.timekeeper.web;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.web.CertificateAuthority;
import io.gpusharing.web.Pem;
import java.net.HttpURLConnection;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Base64;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Component;

/**
 * The reporting CA. Whichever timekeeper starts first makes it; the others take what is there. Its
 * key is for the timekeeper alone, its certificate for everybody.
 */
@Component
class ReportingAuthority implements TrustBundle {

    private static final Logger log = LoggerFactory.getLogger(ReportingAuthority.class);
    private static final String CERTIFICATE = "tls.crt";
    private static final String KEY = "tls.key";
    private static final String PUBLISHED = "ca.crt";

    private final KubernetesClient client;
    private final String namespace;
    private final TlsProperties properties;
    private volatile String published = "";

    ReportingAuthority(
            KubernetesClient client,
            @Value("${gpusharing.cluster.namespace}") String namespace,
            TlsProperties properties) {
        this.client = client;
        this.namespace = namespace;
        this.properties = properties;
    }

    /**
     * The CA that stands in the cluster, made now if there is none; its certificate is published
     * again if that is missing or another.
     *
     * @throws KubernetesClientException if the API server cannot be asked or forbids it
     * @throws IllegalArgumentException if the Secret holds something else
     */
    CertificateAuthority read(Instant now) {
        Secret secret =
                client.secrets().inNamespace(namespace).withName(properties.authority()).get();
        if (secret == null) {
            secret = create(now);
        }
        CertificateAuthority authority =
                new CertificateAuthority(
                        Pem.certificates(decoded(secret, CERTIFICATE)).getFirst(),
                        Pem.privateKey(decoded(secret, KEY)));
        publish(Pem.of(authority.certificate()));
        return authority;
    }

    /** As it was published when the CA was last read; nobody waits for the API server. */
    @Override
    public String pem() {
        return published;
    }

    private Secret create(Instant now) {
        CertificateAuthority authority =
                CertificateAuthority.create(
                        "gpusharing reporting", now, properties.authorityValidity());
        Secret secret =
                new SecretBuilder()
                        .withNewMetadata()
                        .withName(properties.authority())
                        .withNamespace(namespace)
                        .endMetadata()
                        .withType("kubernetes.io/tls")
                        .addToStringData(CERTIFICATE, Pem.of(authority.certificate()))
                        .addToStringData(KEY, Pem.of(authority.key()))
                        .build();
        try {
            Secret created = client.resource(secret).create();
            log.atInfo().addKeyValue("secret", properties.authority()).log("made the reporting CA");
            return created;
        } catch (KubernetesClientException e) {
            if (e.getCode() == HttpURLConnection.HTTP_CONFLICT) {
                return client.secrets()
                        .inNamespace(namespace)
                        .withName(properties.authority())
                        .require();
            }
            throw e;
        }
    }

    private void publish(String certificate) {
        ConfigMap present =
                client.configMaps().inNamespace(namespace).withName(properties.authority()).get();
        String before =
                present == null || present.getData() == null
                        ? ""
                        : present.getData().getOrDefault(PUBLISHED, "");
        // A successor may be published beside it already.
        if (before.contains(certificate.strip())) {
            published = before;
            return;
        }
        if (present == null) {
            create(
                    new ConfigMapBuilder()
                            .withNewMetadata()
                            .withName(properties.authority())
                            .withNamespace(namespace)
                            .endMetadata()
                            .addToData(PUBLISHED, certificate)
                            .build());
        } else {
            ConfigMap mended =
                    new ConfigMapBuilder(present).withData(Map.of(PUBLISHED, certificate)).build();
            client.resource(mended).update();
            log.atInfo()
                    .addKeyValue("configMap", properties.authority())
                    .log("published the CA again");
        }
        published = certificate;
    }

    private void create(ConfigMap wanted) {
        try {
            client.resource(wanted).create();
        } catch (KubernetesClientException e) {
            if (e.getCode() != HttpURLConnection.HTTP_CONFLICT) {
                throw e;
            }
        }
    }

    private static String decoded(Secret secret, String key) {
        String value = secret.getData() == null ? null : secret.getData().get(key);
        if (value == null) {
            throw new IllegalArgumentException(
                    "Secret "
                            + secret.getMetadata().getName()
                            + " has no "
                            + key
                            + "; delete it, and a new CA is made");
        }
        return new String(Base64.getDecoder().decode(value), StandardCharsets.US_ASCII);
    }
}
