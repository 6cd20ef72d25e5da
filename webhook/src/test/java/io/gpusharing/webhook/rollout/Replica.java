package io.gpusharing.webhook.rollout;

import static org.awaitility.Awaitility.await;

import io.gpusharing.webhook.WebhookApplication;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/**
 * The webhook in this JVM, where it starts faster. Closing it is what SIGTERM does to a process.
 */
final class Replica implements AutoCloseable {

    private static final HttpClient HTTP = HttpClient.newHttpClient();

    private final ConfigurableApplicationContext context;

    private Replica(ConfigurableApplicationContext context) {
        this.context = context;
    }

    /** Starts one and waits until it is ready. */
    static Replica started() {
        var replica =
                new Replica(
                        new SpringApplicationBuilder(WebhookApplication.class)
                                .run(
                                        "--server.port=0",
                                        "--management.server.port=0",
                                        "--gpusharing.tls.subject-alternative-names=127.0.0.1"));
        await().atMost(Duration.ofSeconds(60)).until(replica::isReady);
        return replica;
    }

    int port() {
        return property("local.server.port");
    }

    @Override
    public void close() {
        context.close();
    }

    private boolean isReady() throws IOException, InterruptedException {
        var ready = URI.create("http://127.0.0.1:" + property("local.management.port") + "/readyz");
        return HTTP.send(HttpRequest.newBuilder(ready).build(), BodyHandlers.discarding())
                        .statusCode()
                == 200;
    }

    private int property(String name) {
        return context.getEnvironment().getRequiredProperty(name, Integer.class);
    }
}
