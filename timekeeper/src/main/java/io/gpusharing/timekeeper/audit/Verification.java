package io.gpusharing.timekeeper.audit;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.gpusharing.timekeeper.database.ClusterDatabase;
import io.gpusharing.timekeeper.database.Timestamps;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Repository;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Transactional;

/**
 * Recomputes from the entries whatever is stored beside them, and looks for entries that contradict
 * each other. A sound ledger shows no difference.
 */
@Repository
public class Verification {

    private static final int MAX_DIFFERENCES = 100;

    /** Spans that are verified again as a whole: nearly everything that is posted is of these. */
    private static final Duration RECENT = Duration.ofHours(3);

    /** No posting is committed later than this after it began. */
    private static final Duration LONGEST_POSTING = Duration.ofHours(1);

    /** With more pods than these, verifying everything takes no longer. */
    private static final int MAX_LATE_PODS = 5_000;

    /** Before there was anything to verify. */
    private static final Instant BEGIN = Instant.EPOCH;

    private static final String LATE =
            """
            select pod_uid from charge
            where cluster = :cluster and posted_at >= :posted and charged_from < :from and charged_from >= :kept
            union
            select pod_uid from correction
            where cluster = :cluster and posted_at >= :posted and charged_from < :from and charged_from >= :kept
            limit :most
            """;

    private final ClusterDatabase database;
    private final List<Recomputation> others;

    public Verification(ClusterDatabase database, List<Recomputation> others) {
        this.database = database;
        this.others = others;
    }

    /**
     * What was found.
     *
     * @param at when it began, by the clock of the database
     * @param since what is older was dropped by retention and cannot be recomputed; absent if
     *     everything is there
     * @param from spans before this were verified earlier, and now only where anything of them was
     *     posted since; absent if everything was verified
     * @param entries how many charges there are of spans since then
     * @param differences at most a hundred of each kind
     * @param unreadable objects of the cluster that cannot be read; a sound ledger may have some
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Report(
            Instant at,
            @Nullable Instant since,
            @Nullable Instant from,
            long entries,
            List<Difference> differences,
            List<UnreadableKind> unreadable) {

        public Report {
            // What was stored by an earlier version says nothing of that.
            unreadable = Objects.requireNonNullElse(unreadable, List.of());
        }

        /** The same, beside these objects. */
        public Report beside(List<UnreadableKind> objects) {
            return new Report(at, since, from, entries, differences, objects);
        }

        /** Whether nothing differs. */
        public boolean sound() {
            return differences.isEmpty();
        }
    }

    /** Something that is not as the entries say. */
    public record Difference(String kind, String where, String stored, String recomputed) {}

    /** Checks everything, as of one instant of the database. */
    @Transactional(readOnly = true, isolation = Isolation.REPEATABLE_READ)
    public Report run() {
        return run(MAX_DIFFERENCES);
    }

    /**
     * Checks everything, as of one instant of the database.
     *
     * @param most how many differences of each kind are reported
     */
    @Transactional(readOnly = true, isolation = Isolation.REPEATABLE_READ)
    public Report run(int most) {
        Instant kept = kept();
        var differences = new ArrayList<Difference>();
        LedgerCheck.OF_SPANS.forEach(it ->
                differences.addAll(find(it, false, Map.of("kept", kept, "since", kept), most)));
        others.forEach(it -> it.differences(kept, BEGIN).limit(most).forEach(differences::add));
        return report(kept, null, differences);
    }

    /**
     * Checks what was posted since an earlier check began that found nothing: the last hours, and
     * the pods of which anything older was posted. A row of old hours that was changed without a
     * posting is found by {@link #run()} alone.
     *
     * @param sound when that check began, by the clock of the database
     */
    @Transactional(readOnly = true, isolation = Isolation.REPEATABLE_READ)
    public Report runSince(Instant sound) {
        Instant kept = kept();
        Instant now = now();
        // A clock that was ahead hides nothing that is posted after it was put right.
        Instant before = sound.isBefore(now) ? sound : now;
        Instant posted = before.minus(LONGEST_POSTING);
        Instant from = later(before.minus(RECENT).truncatedTo(ChronoUnit.HOURS), kept);
        Set<UUID> late = late(kept, from, posted);
        if (late.size() > MAX_LATE_PODS) {
            return run();
        }
        var differences = new ArrayList<Difference>();
        LedgerCheck.OF_SPANS.forEach(it ->
                differences.addAll(
                        find(it, false, Map.of("kept", kept, "since", from), MAX_DIFFERENCES)));
        if (!late.isEmpty()) {
            Map<String, Object> ofPods =
                    Map.of(
                            "kept", kept,
                            "since", kept,
                            "pods", late.toArray(UUID[]::new),
                            "posted", posted);
            LedgerCheck.OF_PODS.forEach(
                    it -> differences.addAll(find(it, true, ofPods, MAX_DIFFERENCES)));
        }
        others.forEach(it ->
                it.differences(kept, posted).limit(MAX_DIFFERENCES).forEach(differences::add));
        return report(kept, from, differences.stream().distinct().toList());
    }

    private Report report(Instant kept, @Nullable Instant from, List<Difference> differences) {
        long entries =
                database.sql(
                                "select count(*) from charge where cluster = :cluster and charged_from >= :from")
                        .param("from", from == null ? kept : from)
                        .query(Long.class)
                        .single();
        return new Report(
                now(),
                kept.equals(BEGIN) ? null : kept,
                from,
                entries,
                List.copyOf(differences),
                List.of());
    }

    private Instant now() {
        return database.sql("select now() as now")
                .query((row, number) -> Timestamps.instant(row, "now"))
                .single();
    }

    /** The first instant of which all charges are still kept. */
    private Instant kept() {
        // No snapshot keeps a table from being dropped: dropping a partition waits until we are
        // done.
        database.sql("lock table charge in access share mode").update();
        return database.sql("select since from charge_kept")
                .query((row, number) -> Timestamps.instant(row, "since"))
                .optional()
                .orElse(BEGIN);
    }

    private Set<UUID> late(Instant kept, Instant from, Instant posted) {
        return database.sql(LATE)
                .param("kept", kept)
                .param("from", from)
                .param("posted", posted)
                .param("most", MAX_LATE_PODS + 1)
                .query((row, number) -> row.getObject("pod_uid", UUID.class))
                .set();
    }

    /** A limit in the question would have it planned for a few rows, where there are none. */
    private List<Difference> find(
            LedgerCheck check, boolean ofPods, Map<String, ?> parameters, int most) {
        return database.sql(check.sql(ofPods))
                .maxRows(most)
                .params(parameters)
                .query((row, number) ->
                        new Difference(
                                check.kind(),
                                String.valueOf(row.getString(1)),
                                String.valueOf(row.getString(2)),
                                String.valueOf(row.getString(3))))
                .list();
    }

    private static Instant later(Instant one, Instant other) {
        return one.isAfter(other) ? one : other;
    }
}
