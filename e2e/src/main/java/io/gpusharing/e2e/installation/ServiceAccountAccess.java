package io.gpusharing.e2e.installation;

import io.fabric8.kubernetes.client.Config;
import io.gpusharing.e2e.cluster.TestCluster;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A kubeconfig that can do exactly what one service account of the chart may do. */
final class ServiceAccountAccess {

    private ServiceAccountAccess() {}

    /** Writes it to {@code DIR/run/NAME.kubeconfig}; its token lives for a day. */
    static Path kubeconfig(TestCluster cluster, String namespace, String name) {
        String token =
                cluster.kubectl()
                        .run("create", "token", name, "--namespace=" + namespace, "--duration=24h")
                        .orFail();
        Config admin = cluster.client().getConfiguration();
        var file = cluster.dir().resolve("run").resolve(name + ".kubeconfig");
        try {
            return Files.writeString(
                    file,
                    """
                    apiVersion: v1
                    kind: Config
                    current-context: here
                    clusters:
                    - {name: here, cluster: {server: '%s', certificate-authority: '%s'}}
                    users:
                    - {name: %s, user: {token: '%s'}}
                    contexts:
                    - {name: here, context: {cluster: here, user: %3$s, namespace: %s}}
                    """
                            .formatted(
                                    admin.getMasterUrl(),
                                    admin.getCaCertFile(),
                                    name,
                                    token,
                                    namespace));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
