package io.gpusharing.timekeeper.reclaim;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.timekeeper.reclaim.EvictionReceipts.Cause;
import io.gpusharing.timekeeper.reclaim.EvictionReceipts.Pod;
import io.gpusharing.timekeeper.reclaim.EvictionReceipts.Receipt;
import io.gpusharing.timekeeper.reclaim.EvictionVictim.Result;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.springframework.data.domain.Limit;
import org.springframework.stereotype.Component;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Receipts of evictions that were to make room. */
@Component
class ReclaimReceipts implements ReceiptSource {

    private static final JsonMapper JSON = JsonMapper.builder().build();

    private final EvictionPlanRepository plans;

    ReclaimReceipts(EvictionPlanRepository plans) {
        this.plans = plans;
    }

    @Override
    public List<Receipt> receipts(Query query) {
        return plans
                .victimsBefore(
                        query.before().at(),
                        query.before().number(),
                        query.before().victim(),
                        query.namespace(),
                        query.pod(),
                        Limit.of(query.size()))
                .stream()
                .map(row -> receipt(row, query.shown()))
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
                Cause.Reclaim,
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
                new ReceiptCursor(plan.decidedAt, plan.number, row.uid()));
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
