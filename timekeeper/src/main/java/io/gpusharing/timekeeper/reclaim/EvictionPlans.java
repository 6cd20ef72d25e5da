package io.gpusharing.timekeeper.reclaim;

import io.gpusharing.timekeeper.reclaim.EvictionReceipts.Pod;
import io.gpusharing.timekeeper.reclaim.plan.Decision.Evict;
import io.gpusharing.timekeeper.reclaim.snapshot.PastEviction;
import io.gpusharing.timekeeper.reclaim.snapshot.PodRef;
import io.gpusharing.timekeeper.reclaim.snapshot.Refusal;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionTemplate;
import tools.jackson.databind.json.JsonMapper;

/** Writes down who is evicted for whom, why, at what cost, and whether it helped. */
@Component
class EvictionPlans {

    private final EvictionPlanRepository rows;
    private final TransactionTemplate transaction;
    private final JsonMapper json = JsonMapper.builder().build();

    EvictionPlans(EvictionPlanRepository rows, TransactionTemplate transaction) {
        this.rows = rows;
        this.transaction = transaction;
    }

    /**
     * The number of the last plan. To be read before everything else that a plan is drawn up from:
     * it is written only if nobody has written another since.
     */
    long written() {
        return rows.lastNumber();
    }

    /** Evictions that were done, or may have been, if we were killed before the answer. */
    List<PastEviction> since(Instant instant) {
        return rows.evictionsSince(instant);
    }

    List<Refusal> refusalsSince(Instant instant) {
        return rows.refusalsSince(instant);
    }

    /**
     * Writes the plan down before anything is done.
     *
     * @param read the number of the last plan when this one was drawn up
     * @param settlesAt by when the waiter should be bound
     * @return empty if another timekeeper was faster
     */
    Optional<EvictionPlan> plan(
            long read, Evict evict, String waiterBudget, Instant now, Instant settlesAt) {
        PodRef waiter = evict.waiter().pod();
        var plan =
                new EvictionPlan(
                        read + 1,
                        new Pod(uid(waiter), waiter.namespace(), waiter.name(), waiterBudget),
                        evict.waiter().workload(),
                        evict.waiter().since(),
                        evict.node(),
                        now,
                        settlesAt,
                        json.writeValueAsString(evict.considered()),
                        evict.victims().stream()
                                .collect(
                                        Collectors.toMap(
                                                it -> uid(it.pod()), EvictionVictim::planned)));
        try {
            return transaction.execute(status ->
                    rows.lastNumber() > read ? Optional.empty() : Optional.of(rows.save(plan)));
        } catch (DataIntegrityViolationException e) {
            // Of two timekeepers that plan from one reading, both write the same number.
            if (rows.lastNumber() > read) {
                return Optional.empty();
            }
            throw e;
        }
    }

    /** Notes what the API server answered, by the victims' UIDs. */
    void record(EvictionPlan plan, Map<String, Evictions.Answer> answers) {
        edit(
                plan,
                it ->
                        answers.forEach((uid, answer) ->
                                it.record(UUID.fromString(uid), answer.result(), answer.detail())));
    }

    /** Plans of which it is not known yet whether they help. */
    List<EvictionPlan> open() {
        return rows.findByHelpedIsNull();
    }

    void settle(EvictionPlan plan, Outcome outcome, Instant at) {
        edit(plan, it -> it.settle(outcome, at));
    }

    private void edit(EvictionPlan plan, Consumer<EvictionPlan> change) {
        transaction.executeWithoutResult(
                status -> rows.findByNumber(plan.number).ifPresent(change));
    }

    private static UUID uid(PodRef pod) {
        return UUID.fromString(pod.uid());
    }
}
