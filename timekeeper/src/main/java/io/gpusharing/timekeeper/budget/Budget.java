package io.gpusharing.timekeeper.budget;

import io.gpusharing.budget.GpuBudgetSpec;
import io.gpusharing.budget.GpuBudgetStatus;
import io.gpusharing.budget.Misread;
import io.gpusharing.budget.PeriodRule;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/**
 * What an administrator wrote, and who wrote it when. A spec that makes no sense is read as one of
 * the same namespaces without a limit: what they use is counted, nobody is held to what was not
 * understood, and no other budget is touched.
 *
 * @param byDefault whether we made it ourselves, for namespaces that no other budget names
 * @param published status that stands in the cluster; null before the first
 * @param misread why the spec that was written is not the one that counts; null if it is
 */
record Budget(
        String name,
        String uid,
        long generation,
        Instant created,
        GpuBudgetSpec spec,
        boolean byDefault,
        @Nullable GpuBudgetStatus published,
        @Nullable Misread misread) {

    /**
     * Of two that name one namespace, the older keeps it; in the same second, the first by name.
     */
    static final Comparator<Budget> SENIORITY =
            Comparator.comparing(Budget::created).thenComparing(Budget::name);

    Budget(
            String name,
            String uid,
            long generation,
            Instant created,
            GpuBudgetSpec written,
            boolean byDefault,
            @Nullable GpuBudgetStatus published) {
        this(
                name,
                uid,
                generation,
                created,
                written,
                byDefault,
                published,
                Misread.of(written).orElse(null));
    }

    Budget {
        spec = misread == null ? spec : unlimited(spec);
    }

    /** What is left of a spec of which nothing but the namespaces is sure. */
    private static GpuBudgetSpec unlimited(GpuBudgetSpec written) {
        return GpuBudgetSpec.monthly(written.namespaces(), null);
    }

    /** The same, once its account has shown that it cannot be kept as written. */
    Budget notUnderstood(String problem) {
        return new Budget(
                name,
                uid,
                generation,
                created,
                spec,
                byDefault,
                published,
                new Misread("spec", problem, "amounts and dates that can be counted with"));
    }

    static Budget of(GpuBudget object) {
        var meta = object.getMetadata();
        return new Budget(
                meta.getName(),
                meta.getUid(),
                meta.getGeneration() == null ? 0 : meta.getGeneration(),
                Instant.parse(meta.getCreationTimestamp()),
                object.getSpec(),
                meta.getLabels() != null
                        && "true".equals(meta.getLabels().get(DefaultBudgets.MADE_BY_US)),
                object.getStatus());
    }

    /**
     * What its account counts from: its creation, so that nothing of before is held against it. One
     * that we made counts its whole first period, for it was made because its namespace used GPUs
     * already, and what that used until then was kept for it.
     */
    Instant countedFrom() {
        return byDefault ? periods().at(created).start() : created;
    }

    PeriodRule periods() {
        var period = spec.period();
        return new PeriodRule(
                period.unit(), ZoneId.of(period.timeZone()), LocalDateTime.parse(period.anchor()));
    }

    boolean sameAs(Budget other) {
        return uid.equals(other.uid) && generation == other.generation;
    }
}
