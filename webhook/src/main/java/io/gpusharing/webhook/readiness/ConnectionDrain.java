package io.gpusharing.webhook.readiness;

import java.time.Duration;
import org.apache.coyote.http11.AbstractHttp11Protocol;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.tomcat.TomcatWebServer;
import org.springframework.boot.web.server.context.WebServerInitializedEvent;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.event.EventListener;

/**
 * Ends the connections before the server stops: from SIGTERM on each answer says {@code Connection:
 * close}, until no connection is left.
 *
 * <p>API servers keep their connections. A server that stops closes them unanswered, also the one
 * on which a review is just coming, and no API server posts a review twice.
 */
final class ConnectionDrain implements SmartLifecycle {

    private static final Logger log = LoggerFactory.getLogger(ConnectionDrain.class);
    private static final Duration STEP = Duration.ofMillis(50);

    /** Looks without a connection, one after the other: one may still be on its way to us. */
    private static final int QUIET_LOOKS = 5;

    /** Tomcat counts the connection that it would take next. */
    private static final int NONE_OPEN = 1;

    private final Duration longest;
    private volatile @Nullable AbstractHttp11Protocol<?> protocol;
    private volatile boolean running;

    /**
     * @param longest then the server stops, whatever is still connected
     */
    ConnectionDrain(Duration longest) {
        this.longest = longest;
    }

    @EventListener
    void listening(WebServerInitializedEvent event) {
        if (event.getApplicationContext().getServerNamespace() == null
                && event.getWebServer() instanceof TomcatWebServer tomcat
                && tomcat.getTomcat().getConnector().getProtocolHandler()
                        instanceof AbstractHttp11Protocol<?> http) {
            protocol = http;
        }
    }

    @Override
    public void start() {
        running = true;
    }

    /** Comes back when the connections are gone; the server is in a later phase of the shutdown. */
    @Override
    public void stop() {
        running = false;
        AbstractHttp11Protocol<?> serving = protocol;
        if (serving != null) {
            drain(serving);
        }
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    private void drain(AbstractHttp11Protocol<?> serving) {
        // Every request is the last of its connection from now on.
        serving.setMaxKeepAliveRequests(1);
        long end = System.nanoTime() + longest.toNanos();
        int quiet = 0;
        while (quiet < QUIET_LOOKS && System.nanoTime() < end && slept()) {
            quiet = serving.getConnectionCount() > NONE_OPEN ? 0 : quiet + 1;
        }
        if (quiet < QUIET_LOOKS) {
            log.atInfo()
                    .addKeyValue("connections", serving.getConnectionCount() - NONE_OPEN)
                    .log("stopping with open connections");
        }
    }

    private static boolean slept() {
        try {
            Thread.sleep(STEP);
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
