package io.gpusharing.web;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.net.HttpURLConnection;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An authority that stands in the cluster. Whichever replica starts first makes it; the others take
 * what is there. Its key is in a Secret, for the service alone; its certificate in a ConfigMap of
 * the same name ({@code ca.crt}), for everybody.
 */
public final class PublishedAuthority {

    private static final Logger log = LoggerFactory.getLogger(PublishedAuthority.class);
    private static final String CERTIFICATE = "tls.crt";
    private static final String KEY = "tls.key";
    private static final String PUBLISHED = "ca.crt";

    private final KubernetesClient client;
    private final String namespace;
    private final String name;
    private final String commonName;
    private final Duration validity;
    private volatile String published = "";

    /**
     * @param name of the Secret and the ConfigMap
     * @param commonName of one that has to be made
     * @param validity how long one that has to be made is valid
     */
    public PublishedAuthority(
            KubernetesClient client,
            String namespace,
            String name,
            String commonName,
            Duration validity) {
        this.client = client;
        this.namespace = namespace;
        this.name = name;
        this.commonName = commonName;
        this.validity = validity;
    }

    /**
     * The CA that stands in the cluster, made now if there is none; its certificate is published
     * again if that is missing or another.
     *
     * @throws KubernetesClientException if the API server cannot be asked or forbids it
     * @throws IllegalArgumentException if the Secret holds something else
     */
    public CertificateAuthority read(Instant now) {
        Secret secret = client.secrets().inNamespace(namespace).withName(name).get();
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

    /**
     * Its certificate as it was published when it was last read, PEM, perhaps with a successor's;
     * empty before. Nobody waits for the API server.
     */
    public String pem() {
        return published;
    }

    private Secret create(Instant now) {
        CertificateAuthority authority = CertificateAuthority.create(commonName, now, validity);
        Secret secret =
                new SecretBuilder()
                        .withNewMetadata()
                        .withName(name)
                        .withNamespace(namespace)
                        .endMetadata()
                        .withType("kubernetes.io/tls")
                        .addToStringData(CERTIFICATE, Pem.of(authority.certificate()))
                        .addToStringData(KEY, Pem.of(authority.key()))
                        .build();
        try {
            Secret created = client.resource(secret).create();
            log.atInfo().addKeyValue("secret", name).log("made a certificate authority");
            return created;
        } catch (KubernetesClientException e) {
            if (e.getCode() == HttpURLConnection.HTTP_CONFLICT) {
                return client.secrets().inNamespace(namespace).withName(name).require();
            }
            throw e;
        }
    }

    private void publish(String certificate) {
        ConfigMap present = client.configMaps().inNamespace(namespace).withName(name).get();
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
                            .withName(name)
                            .withNamespace(namespace)
                            .endMetadata()
                            .addToData(PUBLISHED, certificate)
                            .build());
        } else {
            ConfigMap mended =
                    new ConfigMapBuilder(present).withData(Map.of(PUBLISHED, certificate)).build();
            client.resource(mended).update();
            log.atInfo().addKeyValue("configMap", name).log("published the CA again");
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
