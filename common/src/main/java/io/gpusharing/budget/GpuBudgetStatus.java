package io.gpusharing.budget;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * {@code status} of a {@code GpuBudget}, as it stands in the cluster: the {@link BudgetLine} and
 * what people read. The integers decide; strings in minutes and GPUs are for people. Amounts are
 * micro-GPU-seconds, rates micro-GPUs, instants RFC 3339 in UTC.
 *
 * @param remaining what is left at {@code asOf}, negative by what was overrun; null if unlimited
 * @param standing for people: that of the line, or {@link PublishedBudget#MISSPELLED} or {@link
 *     PublishedBudget#INACTIVE}
 * @param problem what keeps it from doing what its spec says, in words; null if nothing does
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record GpuBudgetStatus(
        @Nullable Long observedGeneration,
        @Nullable String asOf,
        @Nullable PeriodEdges period,
        @Nullable Long granted,
        @Nullable Long used,
        @Nullable Long remaining,
        @Nullable Long rate,
        @Nullable List<CreditEntry> credits,
        @Nullable String exhaustedAt,
        @Nullable String standing,
        @Nullable String grantedMinutes,
        @Nullable String usedMinutes,
        @Nullable String remainingMinutes,
        @Nullable String rateGpus,
        @Nullable List<NamespaceUse> namespaces,
        @Nullable List<Condition> conditions,
        @Nullable String problem) {

    /** The period that contains {@code asOf}; {@code end} is null if it never ends. */
    @JsonIgnoreProperties(ignoreUnknown = true)
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record PeriodEdges(String start, @Nullable String end) {}

    /** A {@link Credit} on the wire. */
    @JsonIgnoreProperties(ignoreUnknown = true)
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record CreditEntry(String source, long remaining, String from, @Nullable String until) {}

    /** What one namespace used of the period, and holds now. */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record NamespaceUse(String name, long used, String usedMinutes, long rate) {}

    /** A condition as {@code metav1.Condition} has it. */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Condition(
            String type,
            String status,
            @Nullable Long observedGeneration,
            String lastTransitionTime,
            String reason,
            String message) {}
}
