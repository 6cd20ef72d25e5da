package io.gpusharing.timekeeper.budget;

import io.gpusharing.budget.GpuBudgetSpec;
import io.gpusharing.budget.GpuBudgetStatus;
import io.gpusharing.budget.PeriodRule;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/**
 * What an administrator wrote, and who wrote it when.
 *
 * @param byDefault whether we made it ourselves, for namespaces that no other budget names
 * @param published status that stands in the cluster; null before the first
 */
record Budget(
        String name,
        String uid,
        long generation,
        Instant created,
        GpuBudgetSpec spec,
        boolean byDefault,
        @Nullable GpuBudgetStatus published) {

    /**
     * Of two that name one namespace, the older keeps it; in the same second, the first by name.
     */
    static final Comparator<Budget> SENIORITY =
            Comparator.comparing(Budget::created).thenComparing(Budget::name);

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
