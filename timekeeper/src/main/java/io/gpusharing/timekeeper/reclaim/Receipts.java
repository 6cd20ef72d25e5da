package io.gpusharing.timekeeper.reclaim;

import io.gpusharing.timekeeper.database.ClusterDatabase;
import io.gpusharing.timekeeper.reclaim.plan.Decision.Evict;
import io.gpusharing.timekeeper.reclaim.plan.Decision.Victim;
import io.gpusharing.timekeeper.reclaim.snapshot.PastEviction;
import io.gpusharing.timekeeper.reclaim.snapshot.PodRef;
import io.gpusharing.timekeeper.reclaim.snapshot.Refusal;
import io.gpusharing.timekeeper.reclaim.snapshot.Waiter;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import org.springframework.transaction.support.TransactionTemplate;
import tools.jackson.databind.json.JsonMapper;

/** Who was evicted for whom, why, at what cost, and whether it helped. */
class Receipts {

    private static final String PAST =
            """
            select waiter_uid, attempt, decided_at, settles_at, waiter_namespace, waiter_name,
                   waiter_workload, waiter_budget, victim_budget, node, coalesce(helped, false) as helped
              from reclaim_receipt
             where cluster = :cluster and decided_at > :since and result not in ('Refused', 'Spared')
             order by decided_at
            """;

    private static final String REFUSALS =
            """
            select decided_at, waiter_uid, waiter_workload, victim_uid from reclaim_receipt
             where cluster = :cluster and decided_at > :since and result = 'Refused'
             order by decided_at
            """;

    private static final String ATTEMPTS =
            """
            select coalesce(max(attempt), 0) from reclaim_receipt
             where cluster = :cluster and waiter_uid = :waiter
            """;

    // Of two timekeepers that plan from one reading, the second finds one more than it had read.
    private static final String COUNT =
            """
            insert into reclaim_plans (cluster, written) values (:cluster, 1)
            on conflict (cluster) do update set written = reclaim_plans.written + 1
             where reclaim_plans.written = :read
            """;

    private static final String PLAN =
            """
            insert into reclaim_receipt
                   (cluster, waiter_uid, attempt, victim_uid, decided_at, settles_at,
                    waiter_namespace, waiter_name, waiter_workload, waiter_budget, waiter_since,
                    victim_namespace, victim_name, victim_budget, victim_gang, victim_node, node,
                    reason, cost, considered)
            values (:cluster, :waiter, :attempt, :victim, :at, :settles,
                    :waiterNamespace, :waiterName, :workload, :waiterBudget, :waiterSince,
                    :victimNamespace, :victimName, :victimBudget, :gang, :victimNode, :node,
                    :reason, :cost, :considered::jsonb)
            """;

    private static final String RESULT =
            """
            update reclaim_receipt
               set result = :result, result_detail = :detail,
                   helped = case when :stayed then false end,
                   settled_at = case when :stayed then decided_at end,
                   outcome = case when :stayed then 'it was not evicted' else '' end
             where cluster = :cluster and waiter_uid = :waiter and attempt = :attempt
               and victim_uid = :victim
            """;

    private static final String OPEN =
            """
            select waiter_uid, node, max(settles_at) as settles_at from reclaim_receipt
             where cluster = :cluster and helped is null
             group by waiter_uid, node
            """;

    private static final String SETTLE =
            """
            update reclaim_receipt set helped = :helped, outcome = :outcome, settled_at = :at
             where cluster = :cluster and waiter_uid = :waiter and node = :node and helped is null
            """;

    private final ClusterDatabase database;
    private final TransactionTemplate transaction;
    private final JsonMapper json = JsonMapper.builder().build();

    Receipts(ClusterDatabase database, TransactionTemplate transaction) {
        this.database = database;
        this.transaction = transaction;
    }

    /** What became of an eviction. */
    enum Result {
        /** The API server let it go. */
        Evicted,
        /** It was deleted, because the API server had refused to let it go for too long. */
        Deleted,
        /** The API server did not let it go, for instance because of a PodDisruptionBudget. */
        Refused,
        /** It was not asked to go, because another of the same plan may not. */
        Spared,
        /** It was not there any more. */
        Gone;

        /** Whether we ended it. */
        boolean ended() {
            return this == Evicted || this == Deleted;
        }

        /** Whether it is still there. */
        boolean stayed() {
            return this == Refused || this == Spared;
        }
    }

    /** A waiter for whom room was made, and by when it should be bound. */
    record Open(UUID waiter, String node, Instant settlesAt) {}

    /**
     * How many plans were ever written. To be read before everything else that a plan is drawn up
     * from: it is written only if nobody has written another since.
     */
    long written() {
        return database.sql("select written from reclaim_plans where cluster = :cluster")
                .query(Long.class)
                .optional()
                .orElse(0L);
    }

    /** Evictions that were done, or may have been, if we were killed before the answer. */
    List<PastEviction> since(Instant instant) {
        return database.sql(PAST)
                .param("since", Timestamp.from(instant))
                .query((row, number) -> past(row))
                .list();
    }

    List<Refusal> refusalsSince(Instant instant) {
        return database.sql(REFUSALS)
                .param("since", Timestamp.from(instant))
                .query((row, number) ->
                        new Refusal(
                                row.getTimestamp("decided_at").toInstant(),
                                row.getString("waiter_uid"),
                                row.getString("waiter_workload"),
                                row.getString("victim_uid")))
                .list();
    }

    /**
     * Writes the plan down before anything is done.
     *
     * @param read how many plans had been written when this one was drawn up
     * @param settlesAt by when the waiter should be bound
     * @return the number of the attempt; empty if another timekeeper was faster
     */
    Optional<Integer> plan(
            long read, Evict plan, String waiterBudget, Instant now, Instant settlesAt) {
        UUID waiter = UUID.fromString(plan.waiter().pod().uid());
        String considered = json.writeValueAsString(plan.considered());
        return Objects.requireNonNull(
                transaction.execute(status -> {
                    if (!isNext(read)) {
                        return Optional.empty();
                    }
                    int attempt =
                            database.sql(ATTEMPTS)
                                            .param("waiter", waiter)
                                            .query(Integer.class)
                                            .single()
                                    + 1;
                    for (Victim victim : plan.victims()) {
                        insert(plan, victim, attempt, waiterBudget, now, settlesAt, considered);
                    }
                    return Optional.of(attempt);
                }));
    }

    private boolean isNext(long read) {
        return database.sql(COUNT).param("read", read).update() > 0;
    }

    private void insert(
            Evict plan,
            Victim victim,
            int attempt,
            String waiterBudget,
            Instant now,
            Instant settlesAt,
            String considered) {
        Waiter waiter = plan.waiter();
        database.sql(PLAN)
                .param("waiter", UUID.fromString(waiter.pod().uid()))
                .param("attempt", attempt)
                .param("victim", UUID.fromString(victim.pod().uid()))
                .param("at", Timestamp.from(now))
                .param("settles", Timestamp.from(settlesAt))
                .param("waiterNamespace", waiter.pod().namespace())
                .param("waiterName", waiter.pod().name())
                .param("workload", waiter.workload())
                .param("waiterBudget", waiterBudget)
                .param("waiterSince", Timestamp.from(waiter.since()))
                .param("victimNamespace", victim.pod().namespace())
                .param("victimName", victim.pod().name())
                .param("victimBudget", victim.budget())
                .param("gang", victim.gang())
                .param("victimNode", victim.node())
                .param("node", plan.node())
                .param("reason", victim.why())
                .param("cost", victim.cost())
                .param("considered", considered)
                .update();
    }

    void result(PodRef waiter, int attempt, PodRef victim, Result result, String detail) {
        database.sql(RESULT)
                .param("result", result.name())
                .param("detail", detail)
                .param("stayed", result.stayed())
                .param("waiter", UUID.fromString(waiter.uid()))
                .param("attempt", attempt)
                .param("victim", UUID.fromString(victim.uid()))
                .update();
    }

    List<Open> open() {
        return database.sql(OPEN)
                .query((row, number) ->
                        new Open(
                                row.getObject("waiter_uid", UUID.class),
                                row.getString("node"),
                                row.getTimestamp("settles_at").toInstant()))
                .list();
    }

    void settle(Open room, Outcome outcome, Instant at) {
        database.sql(SETTLE)
                .param("helped", outcome.helped())
                .param("outcome", outcome.detail())
                .param("at", Timestamp.from(at))
                .param("waiter", room.waiter())
                .param("node", room.node())
                .update();
    }

    private static PastEviction past(ResultSet row) throws SQLException {
        String waiter = row.getString("waiter_uid");
        return new PastEviction(
                waiter + "#" + row.getInt("attempt"),
                row.getTimestamp("decided_at").toInstant(),
                row.getTimestamp("settles_at").toInstant(),
                new PodRef(waiter, row.getString("waiter_namespace"), row.getString("waiter_name")),
                row.getString("waiter_workload"),
                row.getString("waiter_budget"),
                row.getString("victim_budget"),
                row.getString("node"),
                row.getBoolean("helped"));
    }
}
