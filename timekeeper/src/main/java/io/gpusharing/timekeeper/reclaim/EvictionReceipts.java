package io.gpusharing.timekeeper.reclaim;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonRawValue;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.timekeeper.reclaim.EvictionVictim.Result;
import jakarta.persistence.Embeddable;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.data.domain.Limit;
import org.springframework.stereotype.Component;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** The receipts of evictions, for readers. */
@Component
public class EvictionReceipts {

    private static final Pattern CURSOR =
            Pattern.compile(
                    "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{6}Z_\\d{1,18}_UUID"
                            .replace("UUID", "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"));

    /** Before the first page: later than every plan. */
    private static final String[] FIRST = {"9999-12-31T00:00:00Z", "0", new UUID(0, 0).toString()};

    private static final DateTimeFormatter MICROS =
            DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSSSSSX").withZone(ZoneOffset.UTC);

    private static final JsonMapper JSON = JsonMapper.builder().build();

    private final EvictionPlanRepository plans;

    EvictionReceipts(EvictionPlanRepository plans) {
        this.plans = plans;
    }

    /** A pod of an eviction. */
    @Embeddable
    public record Pod(UUID uid, String namespace, String name, String budget) {}

    /**
     * Why a pod was evicted.
     *
     * @param because the same as a sentence
     * @param cost micro-GPU-seconds of the victim's run, which may be lost
     * @param considered every pod that was considered, and why it remained
     * @param result {@code Evicted}; {@code Deleted} because the API server had refused it for too
     *     long; {@code Refused} by the API server; {@code Spared} because another of the same plan
     *     was refused; {@code Gone}; or {@code Planned} while that is open
     * @param helped whether the waiter was bound in time where room was made; absent while that is
     *     open
     * @param outcome the same in words
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Receipt(
            Instant at,
            Pod victim,
            Pod waiter,
            Instant waiterSince,
            String node,
            String because,
            String reason,
            long cost,
            String costMinutes,
            @JsonRawValue String considered,
            String result,
            @Nullable String resultDetail,
            @Nullable Boolean helped,
            @Nullable String outcome,
            @JsonIgnore String cursor) {}

    /** Whether a text could be the cursor of a receipt; the database would take no other. */
    public static boolean isCursor(String text) {
        if (!CURSOR.matcher(text).matches()) {
            return false;
        }
        try {
            Instant.parse(text.substring(0, text.indexOf('_')));
            return true;
        } catch (DateTimeParseException e) {
            return false;
        }
    }

    /**
     * Receipts, latest first.
     *
     * @param namespace of victim or waiter; null for all
     * @param pod victim or waiter; null for all
     * @param after cursor of the last one of the page before
     * @param shown namespaces whose pods may be named; in others, a considered pod has neither uid
     *     nor name. Victim and waiter know each other by the Events on them
     */
    public List<Receipt> receipts(
            @Nullable String namespace,
            @Nullable UUID pod,
            @Nullable String after,
            int size,
            Predicate<String> shown) {
        String[] last = after == null ? FIRST : after.split("_");
        return plans
                .victimsBefore(
                        Instant.parse(last[0]),
                        Long.parseLong(last[1]),
                        UUID.fromString(last[2]),
                        namespace,
                        pod,
                        Limit.of(size))
                .stream()
                .map(row -> receipt(row, shown))
                .toList();
    }

    private static Receipt receipt(EvictionPlanRepository.Row row, Predicate<String> shown) {
        EvictionPlan plan = row.plan();
        EvictionVictim victim = row.victim();
        Pod waiter = plan.waiter;
        boolean remained = victim.remained();
        Boolean helped = remained ? Boolean.FALSE : plan.helped;
        return new Receipt(
                plan.decidedAt,
                new Pod(row.uid(), victim.namespace(), victim.name(), victim.budget()),
                waiter,
                plan.waiterSince,
                plan.node,
                "%s/%s of budget %s, which was over its time, %s on %s for %s/%s of budget %s, which had waited since %s: %s"
                        .formatted(
                                victim.namespace(),
                                victim.name(),
                                victim.budget(),
                                did(victim.result()),
                                plan.node,
                                waiter.namespace(),
                                waiter.name(),
                                waiter.budget(),
                                plan.waiterSince,
                                victim.reason()),
                victim.reason(),
                victim.cost(),
                new GpuTime(victim.cost()).minutes(),
                considered(plan, shown),
                victim.result() == null ? "Planned" : victim.result().name(),
                victim.resultDetail().isEmpty() ? null : victim.resultDetail(),
                helped,
                helped == null ? null : remained ? EvictionVictim.REMAINED.detail() : plan.outcome,
                "%s_%d_%s".formatted(MICROS.format(plan.decidedAt), plan.number, row.uid()));
    }

    private static String considered(EvictionPlan plan, Predicate<String> shown) {
        JsonNode all = JSON.readTree(plan.considered);
        for (JsonNode one : all) {
            if (one.path("pod") instanceof ObjectNode pod
                    && !shown.test(pod.path("namespace").asString())) {
                pod.remove(List.of("name", "uid"));
            }
        }
        return JSON.writeValueAsString(all);
    }

    private static String did(@Nullable Result result) {
        return switch (result) {
            case Evicted, Deleted -> "made room";
            case Gone -> "had gone already when it was to make room";
            case Refused, Spared -> "was to make room";
            case null -> "was to make room";
        };
    }
}
