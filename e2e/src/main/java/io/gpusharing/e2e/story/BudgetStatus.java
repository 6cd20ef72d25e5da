package io.gpusharing.e2e.story;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What {@code GpuBudget.status} says, read as a stranger would read it.
 *
 * @param asOf when used and rate were true
 * @param used micro-GPU-seconds
 * @param rate micro-GPUs
 * @param exhaustedAt when the budget ends or ended at this rate; null where it does not
 */
record BudgetStatus(
        Instant asOf,
        @Nullable Long granted,
        long used,
        long rate,
        @Nullable Instant exhaustedAt,
        String standing) {

    /** What is not published yet counts as nothing used, in no standing. */
    static BudgetStatus of(KubernetesClient client, String budget) {
        var found =
                client.genericKubernetesResources("gpusharing.io/v1alpha1", "GpuBudget")
                        .withName(budget)
                        .require();
        return new BudgetStatus(
                instant(found, "asOf", Instant.EPOCH),
                number(found, "granted"),
                Objects.requireNonNullElse(number(found, "used"), 0L),
                Objects.requireNonNullElse(number(found, "rate"), 0L),
                instant(found, "exhaustedAt"),
                Objects.requireNonNullElse(found.get("status", "standing"), ""));
    }

    /** The published line, continued to another instant: whole micro-GPU-seconds, rounded down. */
    long usedAt(Instant when) {
        long micros = Duration.between(asOf, when).toNanos() / 1_000;
        return used
                + BigDecimal.valueOf(rate)
                        .multiply(BigDecimal.valueOf(micros))
                        .divide(BigDecimal.valueOf(1_000_000), 0, RoundingMode.FLOOR)
                        .longValueExact();
    }

    /** Whole-GPU minutes as people read them. */
    static String minutes(long microGpuSeconds) {
        return String.format(Locale.ROOT, "%.4f", microGpuSeconds / 60e6);
    }

    private static @Nullable Long number(GenericKubernetesResource budget, String field) {
        Number number = budget.get("status", field);
        return number == null ? null : number.longValue();
    }

    private static @Nullable Instant instant(GenericKubernetesResource budget, String field) {
        String text = budget.get("status", field);
        return text == null ? null : Instant.parse(text);
    }

    private static Instant instant(GenericKubernetesResource budget, String field, Instant absent) {
        return Objects.requireNonNullElse(instant(budget, field), absent);
    }
}
