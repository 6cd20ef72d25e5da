package io.gpusharing.scheduler.cluster;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.kubernetes.ApiServerConnections;
import java.time.Duration;

/**
 * For what kube-scheduler waits for, and for what is done once in a while, all of it by one thread:
 * a request that is not answered in time fails, and is not repeated.
 */
public final class PromptClient {

    private static final Duration PATIENCE = Duration.ofSeconds(2);

    private PromptClient() {}

    /** The same client with two seconds' patience. */
    public static KubernetesClient of(KubernetesClient client) {
        return of(client, PATIENCE);
    }

    /** The same client with this patience. */
    public static KubernetesClient of(KubernetesClient client, Duration patience) {
        return ApiServerConnections.prompt(client, patience);
    }
}
