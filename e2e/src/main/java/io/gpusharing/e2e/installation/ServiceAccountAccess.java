package io.gpusharing.e2e.installation;

import io.fabric8.kubernetes.client.Config;
import io.gpusharing.e2e.cluster.TestCluster;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** What lets a process beside the cluster do exactly what one service account of the chart may. */
final class ServiceAccountAccess {

    private ServiceAccountAccess() {}

    /**
     * Writes a token of the account that is good for one audience alone, as kubelet would project
     * it, to {@code DIR/run/AUDIENCE.token}; it lives for a day.
     */
    static Path token(TestCluster cluster, String namespace, String name, String audience) {
        return write(
                cluster,
                audience + ".token",
                create(cluster, namespace, name, "--audience=" + audience));
    }

    /** Writes a kubeconfig to {@code DIR/run/NAME.kubeconfig}; its token lives for a day. */
    static Path kubeconfig(TestCluster cluster, String namespace, String name) {
        String token = create(cluster, namespace, name);
        Config admin = cluster.client().getConfiguration();
        return write(
                cluster,
                name + ".kubeconfig",
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
    }

    private static String create(
            TestCluster cluster, String namespace, String name, String... options) {
        String[] usual = {"create", "token", name, "--namespace=" + namespace, "--duration=24h"};
        return cluster.kubectl()
                .run(Stream.concat(Stream.of(usual), Stream.of(options)).toArray(String[]::new))
                .orFail();
    }

    private static Path write(TestCluster cluster, String name, String text) {
        try {
            return Files.writeString(cluster.dir().resolve("run").resolve(name), text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
