package io.gpusharing.webhook;

import io.gpusharing.AotCache;
import io.gpusharing.webhook.explain.Explain;
import org.slf4j.LoggerFactory;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** The webhook: judges pods that ask for GPUs, and completes what is legal. */
@SpringBootApplication
public class WebhookApplication {

    /** Starts the service, or with {@code explain -f FILE} says what it would do to a manifest. */
    public static void main(String[] arguments) {
        if (arguments.length > 0 && arguments[0].equals(Explain.COMMAND)) {
            System.exit(Explain.run(arguments, System.out));
        }
        SpringApplication.run(WebhookApplication.class, arguments);
        LoggerFactory.getLogger(WebhookApplication.class)
                .atInfo()
                .addKeyValue("java", Runtime.version())
                .addKeyValue("aotCache", AotCache.ofThisProcess())
                .log("started");
    }
}
