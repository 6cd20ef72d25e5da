package io.gpusharing.webhook;

import io.gpusharing.AotCache;
import org.slf4j.LoggerFactory;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** The webhook: judges pods that ask for GPUs, and completes what is legal. */
@SpringBootApplication
public class WebhookApplication {

    /** Starts the service. */
    public static void main(String[] arguments) {
        SpringApplication.run(WebhookApplication.class, arguments);
        LoggerFactory.getLogger(WebhookApplication.class)
                .atInfo()
                .addKeyValue("java", Runtime.version())
                .addKeyValue("aotCache", AotCache.ofThisProcess())
                .log("started");
    }
}
