package io.gpusharing.e2e.story;

import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;

/**
 * Who paid for a pod in a span in which nothing changes, after all corrections.
 *
 * @param pod with its namespace
 * @param budget empty if nobody paid
 */
record PaidSpan(String pod, String namespace, String budget, Instant from, Instant to) {

    /** All of them, of each pod one after the other; two of one instant are two payers. */
    static List<PaidSpan> of(Ledger ledger) {
        return ledger.query(
                """
                with edge as (select pod_uid, charged_from as at from pod_charge
                              union select pod_uid, charged_to from pod_charge),
                     span as (select pod_uid, at as since, lead(at) over (partition by pod_uid order by at) as until
                              from edge)
                select namespace || '/' || name, namespace, budget, since, until
                from span join pod_charge using (pod_uid)
                where charged_from <= since and until <= charged_to
                group by pod_uid, namespace, name, budget, since, until
                having sum(rate) <> 0
                order by pod_uid, since
                """,
                rows -> {
                    var found = new ArrayList<PaidSpan>();
                    while (rows.next()) {
                        found.add(
                                new PaidSpan(
                                        rows.getString(1),
                                        rows.getString(2),
                                        rows.getString(3),
                                        rows.getObject(4, OffsetDateTime.class).toInstant(),
                                        rows.getObject(5, OffsetDateTime.class).toInstant()));
                    }
                    return found;
                });
    }
}
