package io.gpusharing.timekeeper.receipt;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonRawValue;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.kubernetes.GpuEviction.Cause;
import io.gpusharing.timekeeper.receipt.EvictionRepository.Row;
import jakarta.persistence.Embeddable;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.springframework.data.domain.Limit;
import org.springframework.stereotype.Component;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** The receipts of all evictions, for readers. */
@Component
public class EvictionReceipts {

    private static final JsonMapper JSON = JsonMapper.builder().build();

    private final EvictionRepository rows;

    EvictionReceipts(EvictionRepository rows) {
        this.rows = rows;
    }

    /**
     * A pod of an eviction.
     *
     * @param budget its budget; a name with a slash is none: its namespace is unlimited
     */
    @Embeddable
    public record Pod(UUID uid, String namespace, String name, String budget) {}

    /**
     * Why a pod was evicted.
     *
     * @param at when that was asked for; the API server may have refused it for a while
     * @param cause {@code Reclaim}: it was over budget, and a pod in budget needed its GPUs; {@code
     *     Preemption}: kube-scheduler ended it for a pod of a higher priority; {@code
     *     RefusedStart}: our device plugin did not let it start; {@code MemoryOveruse}: it held
     *     more memory of a GPU than it was given
     * @param waiter for whom room was made; absent if for nobody
     * @param because the same as a sentence
     * @param cost micro-GPU-seconds of the victim's run, which may be lost; of reclaim alone
     * @param considered whom the plan could have taken instead: {@code spared} says how many pods
     *     were spared by why, {@code nearest} names the first ten of them; absent where nobody was
     *     compared
     * @param result {@code Evicted}; {@code Deleted} because the API server had refused it for too
     *     long; {@code Preempted} by kube-scheduler; {@code Refused} by the API server; {@code
     *     Spared} because another of the same plan was refused, or as {@code resultDetail} says;
     *     {@code Gone}; or {@code Planned} while that is open
     * @param helped whether the waiter was bound in time where room was made; absent while that is
     *     open, and without a waiter
     * @param outcome the same in words
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Receipt(
            Instant at,
            Cause cause,
            Pod victim,
            @Nullable Pod waiter,
            @Nullable Instant waiterSince,
            String node,
            String because,
            String reason,
            @Nullable Long cost,
            @Nullable String costMinutes,
            @JsonRawValue @Nullable String considered,
            String result,
            @Nullable String resultDetail,
            @Nullable Boolean helped,
            @Nullable String outcome,
            @JsonIgnore ReceiptCursor cursor) {}

    /**
     * Receipts, latest first.
     *
     * @param namespace of victim or waiter; null for all
     * @param pod victim or waiter; null for all
     * @param after cursor of the last one of the page before; null for the first page
     * @param size how many at most
     * @param shown namespaces whose pods may be named; in others, a considered pod has neither uid
     *     nor name. Victim and waiter know each other by the Events on them
     */
    public List<Receipt> receipts(
            @Nullable String namespace,
            @Nullable UUID pod,
            @Nullable String after,
            int size,
            Predicate<String> shown) {
        return page(
                namespace == null,
                namespace == null ? Set.of() : Set.of(namespace),
                pod,
                after,
                size,
                shown);
    }

    /** The same of pods of some namespaces. */
    public List<Receipt> receipts(
            Set<String> namespaces, @Nullable String after, int size, Predicate<String> shown) {
        return namespaces.isEmpty() ? List.of() : page(false, namespaces, null, after, size, shown);
    }

    private List<Receipt> page(
            boolean everywhere,
            Set<String> namespaces,
            @Nullable UUID pod,
            @Nullable String after,
            int size,
            Predicate<String> shown) {
        ReceiptCursor last = after == null ? ReceiptCursor.FIRST : ReceiptCursor.parse(after);
        return rows
                .victimsAfter(
                        last.at(),
                        last.eviction(),
                        last.victim(),
                        everywhere,
                        namespaces,
                        pod,
                        Limit.of(size))
                .stream()
                .map(row -> receipt(row, shown))
                .toList();
    }

    private static Receipt receipt(Row row, Predicate<String> shown) {
        Eviction eviction = row.eviction();
        EvictionVictim victim = row.victim();
        var words = new ReceiptWords(eviction, victim);
        Boolean helped = words.helped();
        return new Receipt(
                eviction.decidedAt,
                eviction.cause,
                new Pod(row.uid(), victim.namespace(), victim.name(), victim.budget()),
                eviction.waiter,
                eviction.waiterSince,
                eviction.node,
                words.because(),
                victim.reason(),
                victim.cost(),
                victim.cost() == null ? null : new GpuTime(victim.cost()).minutes(),
                eviction.considered == null ? null : considered(eviction.considered, shown),
                words.result(),
                words.resultDetail(),
                helped,
                helped == null ? null : words.outcome(),
                new ReceiptCursor(eviction.decidedAt, eviction.uid, row.uid()));
    }

    private static String considered(String considered, Predicate<String> shown) {
        JsonNode all = JSON.readTree(considered);
        for (JsonNode one : all.path("nearest")) {
            if (one instanceof ObjectNode pod && !shown.test(pod.path("namespace").asString())) {
                pod.remove(List.of("name", "uid"));
            }
        }
        return JSON.writeValueAsString(all);
    }
}
