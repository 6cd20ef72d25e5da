package io.gpusharing.kubernetes;

import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLTransientConnectionException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Logs that a part of a service fails, and that it works again: one line each, however often it
 * tries in between. If the database or the API server is away, the line has no stack trace: it
 * would only show where we happened to ask.
 *
 * <p>Belongs to the thread that tries.
 */
public final class OutageLog {

    private static final int TOO_MANY_REQUESTS = 429;

    private final Logger log;
    private final String part;
    private final Clock clock;
    private @Nullable String kind;
    private Instant since = Instant.MIN;

    /**
     * @param log where it is logged
     * @param part who fails, as a noun: {@code notifier}
     */
    public OutageLog(Logger log, String part, Clock clock) {
        this.log = log;
        this.part = part;
        this.clock = clock;
    }

    /** An attempt failed. */
    public void failed(Throwable problem) {
        boolean expected = isOutage(problem);
        String now = expected ? "outage" : problem.getClass().getName();
        if (now.equals(kind)) {
            return;
        }
        since = kind == null ? clock.instant() : since;
        kind = now;
        var line = log.atWarn().addKeyValue("part", part).addKeyValue("problem", root(problem));
        (expected ? line : line.setCause(problem)).log("failing, trying again");
    }

    /** An attempt succeeded. */
    public void over() {
        if (kind == null) {
            return;
        }
        kind = null;
        log.atInfo()
                .addKeyValue("part", part)
                .addKeyValue("after", Duration.between(since, clock.instant()))
                .log("working again");
    }

    /**
     * Whether a problem means that the database or the API server cannot be reached, has cut us off
     * or does not know us, and nothing is wrong with what we asked.
     */
    public static boolean isOutage(Throwable problem) {
        return !(problem instanceof Error) && causes(problem).anyMatch(OutageLog::saysSo);
    }

    /**
     * Whether the API server would most likely take no other request either: it is away or
     * overloaded, or does not know us. Of one object that it does not take, or because of which a
     * webhook of others fails, it says 500 or another code; one may also take it longer than we
     * wait. Where nobody answers the client has no code, which is 0 or less.
     */
    public static boolean isOutageForAll(KubernetesClientException problem) {
        return switch (problem.getCode()) {
            case HttpURLConnection.HTTP_UNAUTHORIZED,
                    TOO_MANY_REQUESTS,
                    HttpURLConnection.HTTP_BAD_GATEWAY,
                    HttpURLConnection.HTTP_UNAVAILABLE,
                    HttpURLConnection.HTTP_GATEWAY_TIMEOUT ->
                    true;
            default -> problem.getCode() <= 0 && isOutage(problem);
        };
    }

    private static boolean saysSo(Throwable problem) {
        return switch (problem) {
            case SQLTransientConnectionException e -> true;
            case SQLNonTransientConnectionException e -> true;
            case SQLException e -> isConnectionState(e.getSQLState());
            case KubernetesClientException e ->
                    e.getCode() == 0
                            || e.getCode() == HttpURLConnection.HTTP_UNAUTHORIZED
                            || e.getCode() >= 500;
            case IOException e -> true;
            default -> false;
        };
    }

    /**
     * Classes of SQLSTATE by the SQL standard and PostgreSQL: 08 is the connection's, 53 too few
     * resources, 57P a server that stops or starts.
     */
    private static boolean isConnectionState(@Nullable String state) {
        return state != null
                && (state.startsWith("08") || state.startsWith("53") || state.startsWith("57P"));
    }

    private static String root(Throwable problem) {
        Throwable last = causes(problem).reduce(problem, (before, cause) -> cause);
        return last.getMessage() == null ? last.toString() : last.getMessage();
    }

    private static Stream<Throwable> causes(Throwable problem) {
        // As deep as any chain of causes is; one that bites its own tail ends here.
        return Stream.iterate(problem, it -> it != null, Throwable::getCause).limit(20);
    }
}
