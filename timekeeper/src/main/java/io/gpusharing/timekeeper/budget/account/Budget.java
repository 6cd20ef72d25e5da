package io.gpusharing.timekeeper.budget.account;

import io.fabric8.kubernetes.api.model.ManagedFieldsEntry;
import io.gpusharing.ApiTime;
import io.gpusharing.budget.GpuBudgetSpec;
import io.gpusharing.budget.GpuBudgetSpec.PeriodSpec;
import io.gpusharing.budget.GpuBudgetSpec.Share;
import io.gpusharing.budget.GpuBudgetStatus;
import io.gpusharing.budget.InvalidSpec;
import io.gpusharing.budget.Period;
import io.gpusharing.budget.PeriodRule;
import io.gpusharing.kubernetes.GpuBudget;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A {@code GpuBudget} as it counts. A spec that makes no sense is replaced by one without a limit
 * for the same namespaces: their use is counted, by what can be understood of it, and no other
 * budget is affected.
 *
 * @param edited when its spec was written last, by the API server's clock, or a label since; null
 *     if that is not known
 * @param byDefault whether we made it ourselves, for namespaces that no other budget names
 * @param published status in the cluster when it was read; null if there was none
 * @param invalidSpec why the written spec is not the one that counts; null if it is
 */
public record Budget(
        String name,
        String uid,
        long generation,
        Instant created,
        @Nullable Instant edited,
        GpuBudgetSpec spec,
        boolean byDefault,
        @Nullable GpuBudgetStatus published,
        @Nullable InvalidSpec invalidSpec) {

    /**
     * Of two that name one namespace, the older keeps it; in the same second, the first by name.
     */
    static final Comparator<Budget> SENIORITY =
            Comparator.comparing(Budget::created).thenComparing(Budget::name);

    public Budget(
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
                null,
                written,
                byDefault,
                published,
                InvalidSpec.of(written).orElse(null));
    }

    public Budget {
        spec = invalidSpec == null ? spec : unlimited(spec);
    }

    /**
     * What can be kept of a spec that makes no sense. A slip of the pen in one field changes
     * neither what pods cost nor where periods end: that could not be mended afterwards.
     */
    private static GpuBudgetSpec unlimited(GpuBudgetSpec written) {
        GpuBudgetSpec plain = GpuBudgetSpec.monthly(written.namespaces(), null);
        GpuBudgetSpec timed = unlimited(written, written.period(), plain.share());
        PeriodSpec period = (InvalidSpec.of(timed).isEmpty() ? timed : plain).period();
        GpuBudgetSpec kept = unlimited(written, period, written.share());
        return InvalidSpec.of(kept).isEmpty() ? kept : unlimited(written, period, plain.share());
    }

    private static GpuBudgetSpec unlimited(GpuBudgetSpec written, PeriodSpec period, Share share) {
        GpuBudgetSpec plain = GpuBudgetSpec.monthly(written.namespaces(), null);
        return new GpuBudgetSpec(
                written.namespaces(),
                null,
                period,
                plain.rollover(),
                plain.debt(),
                plain.onExhausted(),
                written.chargeBy(),
                share,
                plain.warnAtPercent(),
                plain.minimumRunTime());
    }

    /**
     * The same without a limit, because computing with the spec or the ledger's rows has failed.
     */
    Budget notUnderstood(String problem) {
        return new Budget(
                name,
                uid,
                generation,
                created,
                edited,
                // It may be the period itself with which nobody can compute.
                unlimited(spec, GpuBudgetSpec.monthly(List.of(), null).period(), spec.share()),
                byDefault,
                published,
                new InvalidSpec(
                        "the account",
                        "not to be computed: " + problem,
                        "amounts and dates that can be counted with, in the spec and in the ledger"));
    }

    public static Budget of(GpuBudget object) {
        var meta = object.getMetadata();
        return new Budget(
                meta.getName(),
                meta.getUid(),
                meta.getGeneration() == null ? 0 : meta.getGeneration(),
                ApiTime.read(meta.getCreationTimestamp()),
                edited(meta.getManagedFields()),
                object.getSpec(),
                object.isMadeByDefault(),
                object.getStatus(),
                InvalidSpec.of(object.getSpec()).orElse(null));
    }

    /** The status has entries of its own, with the name of its subresource. */
    private static @Nullable Instant edited(List<ManagedFieldsEntry> writers) {
        return writers.stream()
                .filter(writer -> writer.getSubresource() == null && writer.getTime() != null)
                .map(writer -> ApiTime.read(writer.getTime()))
                .max(Comparator.naturalOrder())
                .orElse(null);
    }

    /** The last instant of which the API server says that it was written. */
    public Instant lastEdit() {
        return edited == null ? created : edited;
    }

    /**
     * From when use counts: from its creation. A default budget counts its whole first period,
     * because it was only made when its namespace already used GPUs, and those first charges bear
     * its name.
     */
    public Instant countedFrom() {
        return byDefault ? firstPeriod().start() : created;
    }

    /**
     * The period in which it was created. One without an end whose anchor is still to come begins
     * with the budget.
     */
    public Period firstPeriod() {
        Period period = periods().at(created);
        return period.start().isAfter(created) ? new Period(created, period.end()) : period;
    }

    public PeriodRule periods() {
        var period = spec.period();
        return new PeriodRule(
                period.unit(), ZoneId.of(period.timeZone()), LocalDateTime.parse(period.anchor()));
    }

    /**
     * When it was used up in a period, as its published status says: after a restart nothing else
     * knows.
     *
     * @return {@code asOf} if the status does not say it either
     */
    Instant publishedExhaustion(Period period, Instant asOf) {
        if (published == null || published.exhaustedAt() == null || published.period() == null) {
            return asOf;
        }
        try {
            Instant exhaustedAt = ApiTime.read(published.exhaustedAt());
            boolean ofThisPeriod =
                    !exhaustedAt.isBefore(period.start()) && !exhaustedAt.isAfter(asOf);
            return ofThisPeriod ? exhaustedAt : asOf;
        } catch (DateTimeException e) {
            // Somebody else's words in our status; they make no account unlimited.
            return asOf;
        }
    }

    /** Whether both give the same in the same periods. */
    public boolean sameTerms(Budget other) {
        return spec.terms().equals(other.spec.terms()) && periods().equals(other.periods());
    }

    public boolean sameAs(Budget other) {
        return uid.equals(other.uid) && generation == other.generation;
    }

    /** Whether both count the same; what was published of them may differ. */
    boolean countsAs(Budget other) {
        return sameAs(other)
                && byDefault == other.byDefault
                && spec.equals(other.spec)
                && Objects.equals(invalidSpec, other.invalidSpec);
    }
}
