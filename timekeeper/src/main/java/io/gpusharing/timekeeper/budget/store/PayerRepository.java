package io.gpusharing.timekeeper.budget.store;

import io.gpusharing.budget.GpuBudgetSpec.Fixed;
import io.gpusharing.budget.RateRule;
import io.gpusharing.budget.ShareRule.Formula;
import io.gpusharing.timekeeper.budget.account.Budget;
import io.gpusharing.timekeeper.database.ClusterDatabase;
import io.gpusharing.timekeeper.database.Timestamps;
import io.gpusharing.timekeeper.ledger.Payer;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import org.springframework.stereotype.Repository;

/**
 * Who paid for each namespace, and since when. Who starts anew does not know by itself what held
 * while nobody ran: a budget may have been deleted then, or have lost a namespace to another.
 */
@Repository
public class PayerRepository {

    /** A pod of which nothing was posted for longer than that is found by nobody. */
    private static final Duration KEPT = Duration.ofDays(7);

    private final ClusterDatabase database;

    public PayerRepository(ClusterDatabase database) {
        this.database = database;
    }

    /** A payer of a namespace. */
    public record Paid(String namespace, Payer payer) {}

    /**
     * A budget as it was seen last.
     *
     * @param edited when it had been edited last, by the API server's clock: a later edit is news
     */
    public record Seen(String uid, long generation, Instant edited) {

        public static Seen of(Budget budget) {
            return new Seen(budget.uid(), budget.generation(), budget.lastEdit());
        }
    }

    /** The budgets, by name, as they were when they were written down last. */
    public Map<String, Seen> seen() {
        var seen = new HashMap<String, Seen>();
        database.sql(
                        """
                        select distinct on (budget) budget, uid, generation, edited_at from budget_terms
                        where cluster = :cluster
                        order by budget, written_at desc, seen_at desc, generation desc
                        """)
                .query((row, number) ->
                        seen.put(
                                row.getString("budget"),
                                new Seen(
                                        row.getString("uid"),
                                        row.getLong("generation"),
                                        Timestamps.instant(row, "edited_at"))))
                .list();
        return seen;
    }

    /** The last payer of each namespace, after those before it. */
    public Map<String, Payer> last() {
        var last = new HashMap<String, Payer>();
        database.sql(
                        """
                        select * from namespace_payer where cluster = :cluster order by namespace, since
                        """)
                .query((row, number) -> paid(row))
                .list()
                .forEach(it ->
                        last.merge(
                                it.namespace(),
                                it.payer(),
                                (before, payer) -> payer.after(before, payer.since())));
        return last;
    }

    /** Writes down payers, and drops those that have not paid for a week. */
    public void write(Collection<Paid> payers, Instant now) {
        if (payers.isEmpty()) {
            return;
        }
        database.sql(
                        """
                        insert into namespace_payer (cluster, namespace, since, budget, formula, by_use,
                            reference_compute, reference_memory)
                        select :cluster, namespace, since::timestamptz, budget, formula, by_use,
                            nullif(compute, 0), nullif(memory, 0)
                        from unnest(:namespace::text[], :since::text[], :budget::text[], :formula::text[], :by_use::boolean[],
                            :compute::bigint[], :memory::bigint[])
                            as u(namespace, since, budget, formula, by_use, compute, memory)
                        on conflict (cluster, namespace, since) do update set
                            budget = excluded.budget, formula = excluded.formula, by_use = excluded.by_use,
                            reference_compute = excluded.reference_compute, reference_memory = excluded.reference_memory
                        """)
                .rows(payers.stream().toList())
                .text("namespace", Paid::namespace)
                .instant("since", it -> it.payer().since())
                .text("budget", it -> it.payer().budget())
                .text("formula", it -> it.payer().rule().formula().name())
                .flag("by_use", it -> it.payer().byUse())
                .number("compute", it -> reference(it.payer()).compute())
                .number("memory", it -> reference(it.payer()).memory())
                .update();
        database.sql(
                        """
                        delete from namespace_payer old where cluster = :cluster and exists (
                            select from namespace_payer later
                             where later.cluster = old.cluster and later.namespace = old.namespace
                               and later.since > old.since and later.since < :kept)
                        """)
                .param("kept", Timestamps.parameter(now.minus(KEPT)))
                .update();
    }

    private static Fixed reference(Payer payer) {
        Fixed reference = payer.rule().reference();
        return reference == null ? new Fixed(0, 0) : reference;
    }

    private static Paid paid(ResultSet row) throws SQLException {
        long compute = row.getLong("reference_compute");
        Fixed reference =
                row.wasNull() ? null : new Fixed(compute, row.getLong("reference_memory"));
        return new Paid(
                row.getString("namespace"),
                new Payer(
                        row.getString("budget"),
                        new RateRule(Formula.valueOf(row.getString("formula")), reference),
                        row.getBoolean("by_use"),
                        Timestamps.instant(row, "since"),
                        null));
    }
}
