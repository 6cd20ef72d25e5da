package io.gpusharing.timekeeper.ledger.posting;

import io.gpusharing.request.NodeFacts;
import io.gpusharing.timekeeper.allocation.AllocationInterval.Ended;
import io.gpusharing.timekeeper.cluster.ClusterView;
import io.gpusharing.timekeeper.ledger.Holders;
import io.gpusharing.timekeeper.ledger.LedgerListener;
import io.gpusharing.timekeeper.ledger.PodAllocation;
import io.gpusharing.timekeeper.ledger.Posting;
import io.gpusharing.timekeeper.ledger.Posting.FeedPosition;
import io.gpusharing.timekeeper.ledger.RateSource;
import io.gpusharing.timekeeper.ledger.store.Ledger;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The open allocations in memory, exactly as the ledger's rows hold them. They change in one way
 * only: a {@link PostingBuilder} is committed.
 */
final class OpenAllocations {

    private final Ledger ledger;
    private final RateSource rates;
    private final LedgerListener listener;
    private final ClusterView view;
    private final int postingSize;
    private final Map<UUID, PodAllocation> committed = new HashMap<>();
    private final Map<String, Set<UUID>> openByBudget = new HashMap<>();
    private final Map<String, Set<UUID>> openByNamespace = new HashMap<>();
    private final Holders holders = new Holders();
    private Ledger.@Nullable State state;
    private Instant seen = Instant.MIN;
    private @Nullable Instant reported;
    private @Nullable Instant swept;

    /**
     * @param postingSize the rows beyond which a builder is committed before it grows further
     */
    OpenAllocations(
            Ledger ledger,
            RateSource rates,
            LedgerListener listener,
            ClusterView view,
            int postingSize) {
        this.ledger = ledger;
        this.rates = rates;
        this.listener = listener;
        this.view = view;
        this.postingSize = postingSize;
    }

    /** Reads the rows if memory is void. */
    void restore(Instant now) {
        if (state == null) {
            load(ledger.open(now));
        }
    }

    /** Reads the rows anew. */
    void load(Ledger.State read) {
        committed.clear();
        openByBudget.clear();
        openByNamespace.clear();
        hold(ledger.openAllocations());
        holders.clear();
        addHolders(all().filter(PodAllocation::isShared));
        seen = read.seenUntil() == null ? read.meteringStart() : read.seenUntil();
        reported = read.reportedUntil();
        swept = read.sweptUntil();
        listener.restored(open());
        state = read;
    }

    /** Memory may be wrong: it is read anew before it is used again. */
    void forget() {
        state = null;
    }

    /** Whether the rows were read when the cluster's state was this. */
    boolean isOf(Ledger.State read) {
        return read.equals(state);
    }

    /** When the API server last reported anything. */
    Instant seen() {
        return seen;
    }

    /** Up to when everything that happened to watched pods was reported; null if nothing was. */
    @Nullable Instant reported() {
        return reported;
    }

    /** When a sweep last listed all pods; null if none has. */
    @Nullable Instant swept() {
        return swept;
    }

    @Nullable PodAllocation get(UUID uid) {
        return committed.get(uid);
    }

    /**
     * Those that have not ended; those of a budget together, so that one posting adds to its hour.
     */
    List<PodAllocation> open() {
        return openOf(openByBudget.keySet());
    }

    /** Those of these namespaces that have not ended. */
    List<PodAllocation> openIn(Collection<String> namespaces) {
        return open(openByNamespace, namespaces);
    }

    /** Those of these budgets that have not ended. */
    List<PodAllocation> openOf(Collection<String> budgets) {
        return open(openByBudget, budgets);
    }

    private List<PodAllocation> open(Map<String, Set<UUID>> index, Collection<String> keys) {
        return keys.stream()
                .flatMap(key -> index.getOrDefault(key, Set.of()).stream())
                .map(uid -> Objects.requireNonNull(committed.get(uid)))
                .toList();
    }

    private void put(PodAllocation allocation) {
        unindex(committed.put(allocation.uid(), allocation));
        if (allocation.open()) {
            add(openByBudget, allocation.budget(), allocation.uid());
            add(openByNamespace, allocation.namespace(), allocation.uid());
        }
    }

    private void remove(UUID uid) {
        unindex(committed.remove(uid));
    }

    private void unindex(@Nullable PodAllocation before) {
        if (before != null && before.open()) {
            remove(openByBudget, before.budget(), before.uid());
            remove(openByNamespace, before.namespace(), before.uid());
        }
    }

    private static void add(Map<String, Set<UUID>> index, String key, UUID uid) {
        index.computeIfAbsent(key, it -> new HashSet<>()).add(uid);
    }

    private static void remove(Map<String, Set<UUID>> index, String key, UUID uid) {
        index.computeIfPresent(
                key,
                (it, uids) -> {
                    uids.remove(uid);
                    return uids.isEmpty() ? null : uids;
                });
    }

    /** Those that are in memory, also if they have ended. */
    Stream<PodAllocation> all() {
        return committed.values().stream();
    }

    /** Takes allocations into memory as their rows were read: ended ones whose end may change. */
    void hold(Collection<PodAllocation> read) {
        read.forEach(this::put);
    }

    /**
     * Takes the allocations of these pods and claims into memory, with the pods that hold the
     * claims or did, and who held allocations beside the pods.
     */
    void remember(Collection<UUID> uids) {
        List<PodAllocation> read = ledger.allocations(uids);
        hold(read);
        addHolders(read.stream());
    }

    private void addHolders(Stream<PodAllocation> of) {
        List<UUID> uids = of.map(PodAllocation::uid).toList();
        if (!uids.isEmpty()) {
            holders.add(ledger.holders(uids));
        }
    }

    /** Ends an allocation; what is charged already beyond its end is taken back. */
    void end(PostingBuilder builder, PodAllocation allocation, Ended ended) {
        PodAllocation known = committed.get(allocation.uid());
        boolean beyond = known != null && known.chargedUntil().isAfter(ended.to());
        builder.end(
                allocation,
                ended,
                beyond ? ledger.entriesBeyond(allocation.uid(), ended.to()) : List.of());
    }

    /** Takes allocations out of memory; their rows stay. */
    void release(Collection<UUID> uids) {
        for (UUID pod : uids) {
            holders.claims(pod)
                    .filter(it -> !isOpen(it))
                    .toList()
                    .forEach(claim -> {
                        holders.remove(claim);
                        remove(claim);
                    });
        }
        uids.forEach(this::remove);
    }

    private boolean isOpen(UUID uid) {
        PodAllocation allocation = committed.get(uid);
        return allocation != null && allocation.open();
    }

    /** A new builder that begins with what is committed. */
    PostingBuilder builder() {
        return new PostingBuilder(
                committed::get,
                holders,
                node -> view.node(node).orElse(NodeFacts.UNKNOWN),
                rates,
                ledger.chargedFrom(Objects.requireNonNull(state)));
    }

    void commit(PostingBuilder builder) {
        commit(builder, FeedPosition.NOTHING);
    }

    /**
     * Writes what was built, or nothing at all.
     *
     * @param position how far what the API server reported came with it
     */
    void commit(PostingBuilder builder, FeedPosition position) {
        Posting posting = builder.posting(position);
        if (posting.isEmpty()) {
            return;
        }
        ledger.post(posting);
        posting.changes().forEach(change -> put(change.after()));
        holders.add(posting.holders());
        seen = position.seen() == null ? seen : position.seen();
        reported = position.reported() == null ? reported : position.reported();
        swept = position.swept() == null ? swept : position.swept();
        listener.posted(posting);
    }

    /**
     * A builder that has grown large is committed as far as it has come, and another one begins.
     * The feed's position is not moved: after a crash the same events come again, and change
     * nothing.
     */
    PostingBuilder relieved(PostingBuilder builder) {
        if (builder.size() < postingSize) {
            return builder;
        }
        commit(builder);
        return builder();
    }
}
