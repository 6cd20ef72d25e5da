package io.gpusharing.scheduler.access;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.scheduler.cluster.PromptClient;
import io.gpusharing.web.ClientCertificates;
import io.gpusharing.web.Pem;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * Whose client certificates count. Both authorities may be followed by others at any time; what was
 * read last is kept where they cannot be read.
 */
@Component
class ClientAuthorities {

    /** Where an API server publishes whom it lets in by certificate itself. */
    private static final String PUBLISHED = "extension-apiserver-authentication";

    private static final String KEY = "client-ca-file";
    private static final ClientCertificates NONE = new ClientCertificates(List.of());

    private final KubernetesClient client;
    private final @Nullable Path file;
    private volatile ClientCertificates ofCluster = NONE;
    private volatile ClientCertificates ofSite = NONE;

    ClientAuthorities(KubernetesClient client, AccessProperties properties) {
        this.client = PromptClient.of(client);
        this.file = properties.clientAuthority();
    }

    /**
     * Reads again whom the API server lets in.
     *
     * @throws RuntimeException if that cannot be read
     */
    void readClusters() {
        ConfigMap map = client.configMaps().inNamespace("kube-system").withName(PUBLISHED).get();
        String pem = map == null || map.getData() == null ? null : map.getData().get(KEY);
        // An API server may know users by tokens alone.
        ofCluster = pem == null ? NONE : new ClientCertificates(Pem.certificates(pem));
    }

    /**
     * Reads the site's own again, if it has one.
     *
     * @throws RuntimeException if that cannot be read
     */
    void readSites() {
        if (file != null) {
            ofSite = new ClientCertificates(Pem.certificates(text(file)));
        }
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Who vouches for kube-scheduler. */
    ClientCertificates ofSchedulers() {
        return file == null ? ofCluster : ofSite;
    }

    /** Who vouches for users of the cluster. */
    ClientCertificates ofUsers() {
        return ofCluster;
    }
}
