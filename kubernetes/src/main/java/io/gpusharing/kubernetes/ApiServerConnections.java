package io.gpusharing.kubernetes;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.RequestConfigBuilder;
import io.fabric8.kubernetes.client.vertx.VertxHttpClientFactory;
import io.vertx.ext.web.client.WebClientOptions;
import java.time.Duration;

/**
 * Connections to the API server that end where nothing comes any more. The client's own timeouts
 * end with the head of an answer: where an API server dies in the middle of one, who waits for the
 * rest would wait for ever.
 */
public final class ApiServerConnections extends VertxHttpClientFactory {

    /** On most watches the API server speaks every minute; one that does not is begun anew. */
    private static final Duration SILENCE = Duration.ofMinutes(3);

    private final Duration silence;

    /** For whoever watches, too. */
    public ApiServerConnections() {
        this(SILENCE);
    }

    /**
     * For whoever has to know sooner.
     *
     * @param silence in whole seconds; a second where it is less
     */
    public ApiServerConnections(Duration silence) {
        this.silence = silence;
    }

    /**
     * The same client for what somebody waits for: a request that is not answered in time fails,
     * and is not repeated.
     */
    public static KubernetesClient prompt(KubernetesClient client, Duration patience) {
        return client.newClient(
                        new RequestConfigBuilder()
                                .withRequestTimeout(Math.toIntExact(patience.toMillis()))
                                .withRequestRetryBackoffLimit(0)
                                .build())
                .adapt(KubernetesClient.class);
    }

    @Override
    protected void additionalConfig(WebClientOptions options) {
        options.setReadIdleTimeout(Math.max(1, Math.toIntExact(silence.toSeconds())));
    }
}
