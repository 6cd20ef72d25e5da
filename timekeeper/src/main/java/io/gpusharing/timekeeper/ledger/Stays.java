package io.gpusharing.timekeeper.ledger;

import io.gpusharing.timekeeper.ledger.Posting.Heard;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The open stays in memory, exactly as the ledger's rows hold them. They change in one way only: a
 * {@link Draft} is committed. Belongs to the bookkeeper's thread.
 */
final class Stays {

    private final Ledger ledger;
    private final Tariffs tariffs;
    private final Map<UUID, PodStay> committed = new HashMap<>();
    private final Holders holders = new Holders();
    private Ledger.@Nullable State state;
    private Instant seen = Instant.MIN;
    private @Nullable Instant swept;

    Stays(Ledger ledger, Tariffs tariffs) {
        this.ledger = ledger;
        this.tariffs = tariffs;
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
        hold(ledger.openStays());
        holders.clear();
        holders.add(ledger.holders());
        seen = read.seenUntil() == null ? read.meteringStart() : read.seenUntil();
        swept = read.sweptUntil();
        tariffs.restored(open());
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

    /** When the API server last told anything. */
    Instant seen() {
        return seen;
    }

    /** When all pods were last looked through; null if they never were. */
    @Nullable Instant swept() {
        return swept;
    }

    @Nullable PodStay get(UUID uid) {
        return committed.get(uid);
    }

    /** Those that have not ended. */
    List<PodStay> open() {
        return all().filter(PodStay::open).toList();
    }

    /** Those that are in memory, also if they have ended. */
    Stream<PodStay> all() {
        return committed.values().stream();
    }

    /** Takes stays into memory as their rows were read: ended ones whose end may change. */
    void hold(Collection<PodStay> read) {
        read.forEach(stay -> committed.put(stay.uid(), stay));
    }

    /** Takes the stays of these pods into memory, and who held allocations beside them. */
    void remember(Collection<UUID> pods) {
        List<PodStay> read = ledger.stays(pods);
        hold(read);
        if (!read.isEmpty()) {
            holders.add(ledger.holders(read.stream().map(PodStay::uid).toList()));
        }
    }

    /** Takes stays out of memory; their rows stay. */
    void release(Collection<UUID> uids) {
        for (UUID pod : uids) {
            holders.allocations(pod)
                    .filter(it -> !isOpen(it))
                    .toList()
                    .forEach(allocation -> {
                        holders.remove(allocation);
                        committed.remove(allocation);
                    });
        }
        committed.keySet().removeAll(uids);
    }

    private boolean isOpen(UUID uid) {
        PodStay stay = committed.get(uid);
        return stay != null && stay.open();
    }

    /** A new draft that begins with what is committed. */
    Draft draft() {
        return new Draft(
                committed::get, holders, tariffs, Objects.requireNonNull(state).meteringStart());
    }

    void commit(Draft draft) {
        commit(draft, Heard.NOTHING);
    }

    /**
     * Writes a draft, or nothing at all.
     *
     * @param heard how far what the API server tells came with it
     * @throws OutOfStepException if the rows are not what memory holds
     */
    void commit(Draft draft, Heard heard) {
        Posting posting = draft.posting(heard);
        if (posting.isEmpty()) {
            return;
        }
        ledger.post(posting);
        posting.moves().forEach(move -> committed.put(move.after().uid(), move.after()));
        holders.add(posting.holders());
        seen = heard.seen() == null ? seen : heard.seen();
        swept = heard.swept() == null ? swept : heard.swept();
        tariffs.posted(posting);
    }

    /**
     * A draft that has grown large is committed as far as it has come, and another one begins. The
     * feed's position is not moved: after a crash the same news comes again, and changes nothing.
     */
    Draft relieved(Draft draft) {
        if (!draft.isLarge()) {
            return draft;
        }
        commit(draft);
        return draft();
    }
}
