package io.gpusharing.kubernetes;

import io.fabric8.kubernetes.client.vertx.VertxHttpClientFactory;
import io.vertx.ext.web.client.WebClientOptions;
import java.time.Duration;

/**
 * Connections to the API server that end where nothing comes any more. The client's own timeouts
 * end with the head of an answer: where an API server dies in the middle of one, who waits for the
 * rest would wait for ever.
 */
public final class ApiServerConnections extends VertxHttpClientFactory {

    /** On a watch the API server speaks at least every minute. */
    private static final Duration SILENCE = Duration.ofMinutes(3);

    private final Duration silence;

    /** For whoever watches, too. */
    public ApiServerConnections() {
        this(SILENCE);
    }

    /**
     * For whoever has to know sooner.
     *
     * @param silence whole seconds, one at least
     */
    public ApiServerConnections(Duration silence) {
        this.silence = silence;
    }

    @Override
    protected void additionalConfig(WebClientOptions options) {
        options.setReadIdleTimeout(Math.toIntExact(silence.toSeconds()));
    }
}
