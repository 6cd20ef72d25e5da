package io.gpusharing.timekeeper.ledger.correction;

import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.timekeeper.database.ClusterDatabase;
import io.gpusharing.timekeeper.database.Timestamps;
import io.gpusharing.timekeeper.leader.LeaderTask;
import io.gpusharing.timekeeper.ledger.correction.CorrectionOrders.Signed;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Component;
import org.springframework.web.server.ResponseStatusException;

/**
 * Passes orders on from whichever replica was asked to the one that leads, by way of the database:
 * that both trust already, and it needs neither an address nor a login of the other.
 *
 * <p>Who has waited four seconds withdraws an order that nobody has taken up, and it is never
 * carried out. Of one that was taken up and not answered, nobody knows; given again with its key,
 * it shows.
 */
@Component
public class CorrectionRequests extends LeaderTask {

    private static final Logger log = LoggerFactory.getLogger(CorrectionRequests.class);

    private static final Duration LOOKS_EVERY = Duration.ofSeconds(1);
    private static final Duration TAKEN_UP_WITHIN = Duration.ofSeconds(4);
    private static final Duration ANSWERED_WITHIN = Duration.ofSeconds(12);
    private static final Duration POLLS_EVERY = Duration.ofMillis(200);

    private final ClusterDatabase database;
    private final Carrier orders;
    private final Clock clock;

    CorrectionRequests(
            ClusterDatabase database, Carrier orders, Leadership leadership, Clock clock) {
        super("corrections", leadership, clock);
        this.database = database;
        this.orders = orders;
        this.clock = clock;
    }

    /** Whoever carries orders out on the replica that leads. */
    @FunctionalInterface
    interface Carrier {

        /**
         * Carries an order out, once for each key.
         *
         * @return what was written, as JSON
         * @throws ResponseStatusException with a sentence for the user
         */
        String carryOut(CorrectionOrder order, String reason, Signed by);
    }

    /** An order as it is passed on. */
    private record Request(UUID id, CorrectionOrder order, String reason, Signed by) {}

    /** What became of one. */
    private record Outcome(HttpStatus status, String answer) {}

    private static final Outcome NOT_TAKEN_UP =
            new Outcome(
                    HttpStatus.SERVICE_UNAVAILABLE,
                    "No replica that keeps the ledger has taken it up, and nothing was corrected; ask again in a few seconds");

    private static final Outcome NOT_ANSWERED =
            new Outcome(
                    HttpStatus.SERVICE_UNAVAILABLE,
                    "The replica that keeps the ledger has not answered, and may correct it yet; ordered again, it is not corrected twice, and with the same key it is answered what became of it");

    private static final Outcome FAILED =
            new Outcome(
                    HttpStatus.INTERNAL_SERVER_ERROR,
                    "It could not be carried out; the log of the replica that leads says why");

    /**
     * Has an order carried out by the leader.
     *
     * @param key see {@link CorrectionController}
     * @param known the pod's {@code ETag} as it was read; null to correct whatever was corrected
     * @return what was written, as JSON
     */
    public String carryOut(
            CorrectionOrder order,
            String reason,
            String author,
            String key,
            @Nullable String known) {
        var by = new Signed(author, key, known);
        if (leads()) {
            return orders.carryOut(order, reason, by);
        }
        UUID id = UUID.randomUUID();
        Instant begun = clock.instant();
        passOn(new Request(id, order, reason, by));
        Outcome outcome =
                awaited(id, begun.plus(TAKEN_UP_WITHIN))
                        .or(() -> withdrawn(id) ? Optional.of(NOT_TAKEN_UP) : Optional.empty())
                        .or(() -> awaited(id, begun.plus(ANSWERED_WITHIN)))
                        .orElse(NOT_ANSWERED);
        forget(id);
        if (outcome.status().is2xxSuccessful()) {
            return outcome.answer();
        }
        throw new ResponseStatusException(outcome.status(), outcome.answer());
    }

    private void passOn(Request request) {
        CorrectionOrder order = request.order();
        database.sql(
                        """
                        insert into correction_request (cluster, id, author, key, known, budget, pod_uid, charged_from, charged_to, rate, reason)
                        values (:cluster, :id, :author, :key, :known, :budget, :pod, :from, :to, :rate, :reason)
                        """)
                .param("id", request.id())
                .param("author", request.by().author())
                .param("key", request.by().key())
                .param("known", request.by().known())
                .param("budget", order.budget())
                .param("pod", order.pod())
                .param("from", order.from())
                .param("to", order.to())
                .param("rate", order.rate())
                .param("reason", request.reason())
                .update();
    }

    private Optional<Outcome> awaited(UUID id, Instant end) {
        while (clock.instant().isBefore(end) && !Thread.currentThread().isInterrupted()) {
            LockSupport.parkNanos(POLLS_EVERY.toNanos());
            Optional<Outcome> outcome =
                    database.sql(
                                    "select status, answer from correction_request where cluster = :cluster and id = :id and status is not null")
                            .param("id", id)
                            .query((row, number) ->
                                    new Outcome(
                                            HttpStatus.valueOf(row.getInt("status")),
                                            row.getString("answer")))
                            .optional();
            if (outcome.isPresent()) {
                return outcome;
            }
        }
        return Optional.empty();
    }

    /** Of this and {@link #takenUp} one alone succeeds. */
    private boolean withdrawn(UUID id) {
        return database.sql(
                                "delete from correction_request where cluster = :cluster and id = :id and taken_at is null")
                        .param("id", id)
                        .update()
                > 0;
    }

    private boolean takenUp(UUID id) {
        return database.sql(
                                "update correction_request set taken_at = now() where cluster = :cluster and id = :id and taken_at is null")
                        .param("id", id)
                        .update()
                > 0;
    }

    private void forget(UUID id) {
        database.sql("delete from correction_request where cluster = :cluster and id = :id")
                .param("id", id)
                .update();
    }

    @Override
    protected Instant work(Instant now) {
        // Whoever asked so long ago has died, or has been told that it failed.
        database.sql(
                        "delete from correction_request where cluster = :cluster and asked_at < now() - interval '20 seconds'")
                .update();
        database
                .sql(
                        """
                        select * from correction_request
                        where cluster = :cluster and taken_at is null
                        order by asked_at
                        """)
                .query((row, number) -> request(row))
                .list()
                .stream()
                .filter(request -> takenUp(request.id()))
                .forEach(this::answer);
        return clock.instant().plus(LOOKS_EVERY);
    }

    private void answer(Request request) {
        Outcome outcome;
        try {
            outcome =
                    new Outcome(
                            HttpStatus.OK,
                            orders.carryOut(request.order(), request.reason(), request.by()));
        } catch (ResponseStatusException e) {
            outcome =
                    new Outcome(
                            HttpStatus.valueOf(e.getStatusCode().value()),
                            String.valueOf(e.getReason()));
        } catch (RuntimeException e) {
            log.atWarn()
                    .setCause(e)
                    .addKeyValue("author", request.by().author())
                    .addKeyValue("pod", request.order().pod())
                    .log("a correction failed");
            outcome = FAILED;
        }
        database.sql(
                        "update correction_request set status = :status, answer = :answer where cluster = :cluster and id = :id")
                .param("id", request.id())
                .param("status", outcome.status().value())
                .param("answer", outcome.answer())
                .update();
    }

    private static Request request(ResultSet row) throws SQLException {
        return new Request(
                row.getObject("id", UUID.class),
                new CorrectionOrder(
                        row.getObject("pod_uid", UUID.class),
                        row.getString("budget"),
                        Timestamps.instant(row, "charged_from"),
                        Timestamps.instant(row, "charged_to"),
                        row.getLong("rate")),
                row.getString("reason"),
                new Signed(row.getString("author"), row.getString("key"), row.getString("known")));
    }
}
