package io.gpusharing.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.testing.SteppingClock;
import java.net.ConnectException;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.UncategorizedSQLException;

class OutageLogTest {

    private final Logger log = (Logger) LoggerFactory.getLogger(OutageLogTest.class);
    private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
    private final SteppingClock clock = new SteppingClock(Instant.parse("2026-01-01T00:00:00Z"));
    private final OutageLog outageLog = new OutageLog(log, "budget-notifier", clock);

    @BeforeEach
    void listen() {
        lines.start();
        log.addAppender(lines);
        log.setAdditive(false);
        log.setLevel(Level.INFO);
    }

    @AfterEach
    void stopListening() {
        log.detachAppender(lines);
        log.setLevel(null);
        log.setAdditive(true);
    }

    /** Of a request without an answer the client says -1. */
    @Test
    void whereNobodyAnswersOrIsKnownNoOtherRequestWouldBeTakenEither() {
        assertThat(
                        OutageLog.isOutageForAll(
                                new KubernetesClientException(
                                        "refused", new ConnectException("connection refused"))))
                .isTrue();
        assertThat(OutageLog.isOutageForAll(new KubernetesClientException("busy", 429, null)))
                .isTrue();
        assertThat(
                        OutageLog.isOutageForAll(
                                new KubernetesClientException(
                                        "longer than we wait", new TimeoutException())))
                .isFalse();
        assertThat(OutageLog.isOutageForAll(new KubernetesClientException("too large", 500, null)))
                .isFalse();
    }

    @Test
    void anOutageIsLoggedOnceAndWithoutAStackTrace() {
        outageLog.failed(noConnection());
        clock.pass(Duration.ofSeconds(5));
        outageLog.failed(cutOff());
        outageLog.failed(noConnection());
        outageLog.over();
        outageLog.over();

        assertThat(lines.list)
                .extracting(ILoggingEvent::getMessage)
                .containsExactly("failing, trying again", "working again");
        assertThat(lines.list.getFirst().getThrowableProxy()).isNull();
        assertThat(lines.list.getFirst().getKeyValuePairs())
                .extracting(Object::toString)
                .containsExactly("part=\"budget-notifier\"", "problem=\"Connection refused\"");
        assertThat(lines.list.getLast().getKeyValuePairs())
                .extracting(Object::toString)
                .contains("after=\"PT5S\"");
    }

    @Test
    void aDefectOfOursIsLoggedWithItsStackTrace() {
        outageLog.failed(noConnection());
        outageLog.failed(new IllegalStateException("never thought of"));
        outageLog.failed(new IllegalStateException("never thought of"));

        assertThat(lines.list).hasSize(2);
        assertThat(lines.list.getLast().getThrowableProxy()).isNotNull();
    }

    @Test
    void distinguishesAnUnreachableDatabaseFromOneThatRefusesAStatement() {
        assertThat(OutageLog.isOutage(noConnection())).isTrue();
        assertThat(OutageLog.isOutage(cutOff())).isTrue();
        assertThat(
                        OutageLog.isOutage(
                                new DuplicateKeyException(
                                        "", new SQLException("duplicate key", "23505"))))
                .isFalse();
    }

    /** Its next token is to be used soon, whatever was tried with the void one. */
    @Test
    void whoIsNotKnownAnyMoreHasNoDefect() {
        assertThat(OutageLog.isOutage(new KubernetesClientException("Unauthorized", 401, null)))
                .isTrue();
        assertThat(OutageLog.isOutage(new KubernetesClientException("Forbidden", 403, null)))
                .isFalse();
    }

    @Test
    void aNewOutageIsLoggedAgain() {
        outageLog.failed(noConnection());
        outageLog.over();
        outageLog.failed(noConnection());

        assertThat(lines.list).hasSize(3);
    }

    private static RuntimeException noConnection() {
        var pool = new SQLTransientConnectionException("not available, request timed out");
        pool.initCause(new ConnectException("Connection refused"));
        return new CannotGetJdbcConnectionException("Failed to obtain connection", pool);
    }

    private static RuntimeException cutOff() {
        return new UncategorizedSQLException(
                "post", "insert", new SQLException("terminating connection", "57P01"));
    }
}
