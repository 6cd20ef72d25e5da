package io.gpusharing.timekeeper.reclaim;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonRawValue;
import io.gpusharing.timekeeper.reclaim.ReceiptSource.Query;
import jakarta.persistence.Embeddable;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/** The receipts of all evictions, for readers. */
@Component
public class EvictionReceipts {

    private final List<ReceiptSource> sources;

    EvictionReceipts(List<ReceiptSource> sources) {
        this.sources = List.copyOf(sources);
    }

    /** A pod of an eviction. */
    @Embeddable
    public record Pod(UUID uid, String namespace, String name, String budget) {}

    /** What pods are evicted for. */
    public enum Cause {
        /** It was over budget, and a pod in budget needed its GPUs. */
        Reclaim,
        /** Our device plugin did not let it start. */
        NotStarted,
        /** It held more memory of a GPU than it was given. */
        MemoryExceeded
    }

    /**
     * Why a pod was evicted.
     *
     * @param at when it was decided; the API server may have refused it for a while
     * @param waiter for whom room was made; absent if for nobody
     * @param because the same as a sentence
     * @param cost micro-GPU-seconds of the victim's run, which may be lost; of reclaim alone
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
     * Receipts, latest first; see {@link Query}.
     *
     * @param after cursor of the last one of the page before
     */
    public List<Receipt> receipts(
            @Nullable String namespace,
            @Nullable UUID pod,
            @Nullable String after,
            int size,
            Predicate<String> shown) {
        var query =
                new Query(
                        namespace,
                        pod,
                        after == null ? ReceiptCursor.FIRST : ReceiptCursor.parse(after),
                        size,
                        shown);
        return latest(sources.stream().flatMap(source -> source.receipts(query).stream()), size);
    }

    /** The same of pods of some namespaces. */
    public List<Receipt> receipts(
            Set<String> namespaces, @Nullable String after, int size, Predicate<String> shown) {
        // One whose victim and waiter are of two of them is found twice.
        return latest(
                namespaces.stream()
                        .flatMap(it -> receipts(it, null, after, size, shown).stream())
                        .distinct(),
                size);
    }

    private static List<Receipt> latest(Stream<Receipt> receipts, int size) {
        return receipts.sorted(Comparator.comparing(Receipt::cursor)).limit(size).toList();
    }
}
