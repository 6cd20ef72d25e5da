package io.gpusharing.timekeeper.receipt;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.ApiTime;
import io.gpusharing.kubernetes.EvictionPlan;
import io.gpusharing.kubernetes.GpuEviction;
import io.gpusharing.kubernetes.GpuEviction.Cause;
import io.gpusharing.kubernetes.GpuEviction.Phase;
import io.gpusharing.kubernetes.GpuEvictions;
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.kubernetes.OutageLog;
import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.web.LeaderTask;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.stereotype.Component;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Writes down what {@code GpuEviction} objects say, and deletes those that nobody needs any more.
 * One that fails holds up none of the others, and is tried again.
 */
@Component
class EvictionKeeper extends LeaderTask {

    private static final Logger log = LoggerFactory.getLogger(EvictionKeeper.class);

    /** Of those that somebody else deleted. */
    private static final int MOST_ENDED = 1_000;

    /** At a time: what changes meanwhile waits to be written down. */
    private static final int MOST_DELETED = 200;

    /**
     * Refusals at a time: what the API server does not let us delete so often, it will not let us
     * delete at all.
     */
    private static final int MOST_REFUSED = 10;

    private static final Duration AGAIN = Duration.ofSeconds(1);

    /** After a deletion that was refused, of that object. */
    private static final Duration PAUSE = Duration.ofMinutes(1);

    /**
     * Which go first where there are too many: what reclaim did and was refused decides what it
     * does next. Their instants are whole seconds, all written alike.
     */
    private static final Comparator<GpuEviction> SURPLUS_FIRST =
            Comparator.comparing((GpuEviction it) -> it.cause() == Cause.Reclaim)
                    .thenComparing(it -> it.getMetadata().getCreationTimestamp());

    private final KubernetesClient client;
    private final EvictionWatch watch;
    private final EvictionRepository rows;
    private final TransactionTemplate transaction;
    private final Budgets budgets;
    private final Duration lookBack;

    /** Version in which each was written down in this term, by UID. */
    private final Map<String, String> kept = new HashMap<>();

    /** Those that were deleted, as they were last; the next leader's as well. */
    private final ConcurrentLinkedDeque<GpuEviction> ended = new ConcurrentLinkedDeque<>();

    /** UIDs of those that could not be written down or deleted lately: logged once. */
    private final Set<String> failing = new HashSet<>();

    /** When those are deleted, by UID, that the API server did not let us delete. */
    private final Map<String, Instant> refused = new HashMap<>();

    private Instant deletesAgain = Instant.EPOCH;

    EvictionKeeper(
            KubernetesClient client,
            EvictionWatch watch,
            EvictionRepository rows,
            TransactionTemplate transaction,
            Budgets budgets,
            ReceiptProperties properties,
            Leadership leadership,
            Clock clock) {
        super("receipts", leadership, clock);
        this.client = client;
        this.watch = watch;
        this.rows = rows;
        this.transaction = transaction;
        this.budgets = budgets;
        this.lookBack = properties.lookBack();
        watch.listenForEnds(this::ended);
        watch.listen(this::trigger);
    }

    private void ended(GpuEviction object) {
        ended.add(object);
        if (ended.size() > MOST_ENDED) {
            ended.poll();
        }
    }

    @Override
    protected void takeOver() {
        kept.clear();
        failing.clear();
        refused.clear();
        deletesAgain = Instant.EPOCH;
    }

    @Override
    protected @Nullable Instant work(Instant now) {
        if (!watch.isListed() || !budgets.settled()) {
            // An object that names no budget is written with the one that pays now.
            return now.plus(AGAIN);
        }
        List<GpuEviction> present = watch.all();
        boolean all = true;
        for (GpuEviction object : present) {
            if (!leads()) {
                return now;
            }
            all &= isKept(object) || kept(object);
        }
        all &= keepEnded();
        deleteOld(present, now);
        Set<String> uids = new HashSet<>();
        present.forEach(it -> uids.add(it.getMetadata().getUid()));
        kept.keySet().retainAll(uids);
        refused.keySet().retainAll(uids);
        return all ? null : now.plus(AGAIN);
    }

    private boolean keepEnded() {
        boolean all = true;
        for (GpuEviction object : ended) {
            if (isKept(object) || kept(object)) {
                ended.remove(object);
            } else {
                all = false;
            }
        }
        return all;
    }

    private boolean isKept(GpuEviction object) {
        return object.getMetadata()
                .getResourceVersion()
                .equals(kept.get(object.getMetadata().getUid()));
    }

    private boolean kept(GpuEviction object) {
        try {
            keep(object);
            kept.put(object.getMetadata().getUid(), object.getMetadata().getResourceVersion());
            failing.remove(object.getMetadata().getUid());
            return true;
        } catch (CannotCreateTransactionException | DataAccessResourceFailureException e) {
            throw e;
        } catch (RuntimeException e) {
            failed(object, e);
            return false;
        }
    }

    private void keep(GpuEviction object) {
        EvictionPlan plan = EvictionPlan.of(object);
        if (Eviction.phase(plan) == Phase.Asked) {
            return;
        }
        transaction.executeWithoutResult(status ->
                rows.findByUid(UUID.fromString(plan.uid()))
                        .ifPresentOrElse(
                                it -> it.follow(plan),
                                () -> rows.save(new Eviction(plan, this::budget))));
    }

    /** A name with a slash is no budget: its namespace is unlimited. */
    private String budget(String namespace) {
        return budgets.ofNamespace(namespace).map(budget -> budget.name()).orElse("/" + namespace);
    }

    private void deleteOld(List<GpuEviction> present, Instant now) {
        if (now.isBefore(deletesAgain)) {
            return;
        }
        int refusals = 0;
        for (GpuEviction object : deletable(present, now)) {
            if (!leads()) {
                return;
            }
            try {
                // It is gone then, or has changed.
                var _ = GpuEvictions.delete(client, object);
            } catch (KubernetesClientException e) {
                failed(object, e);
                refused.put(object.getMetadata().getUid(), now.plus(PAUSE));
                if (++refusals == MOST_REFUSED || OutageLog.isOutageForAll(e)) {
                    deletesAgain = now.plus(PAUSE);
                    return;
                }
            }
        }
    }

    /** Those that were refused before come last: however many they are, others have their turn. */
    private List<GpuEviction> deletable(List<GpuEviction> present, Instant now) {
        Map<Boolean, List<GpuEviction>> byAge =
                present.stream()
                        .filter(it -> isKept(it) && !it.isOpen())
                        .filter(it -> !refusedUntil(it).isAfter(now))
                        .sorted(
                                Comparator.comparing((GpuEviction it) ->
                                                refusedUntil(it).isAfter(Instant.EPOCH))
                                        .thenComparing(SURPLUS_FIRST))
                        .collect(Collectors.partitioningBy(it -> isOld(it, now)));
        List<GpuEviction> old = byAge.getOrDefault(true, List.of());
        int surplus = Math.max(0, present.size() - old.size() - GpuEviction.MOST);
        return Stream.concat(
                        old.stream(), byAge.getOrDefault(false, List.of()).stream().limit(surplus))
                .limit(MOST_DELETED)
                .toList();
    }

    private boolean isOld(GpuEviction object, Instant now) {
        Instant created = ApiTime.read(object.getMetadata().getCreationTimestamp());
        return !created.plus(lookBack).isAfter(now);
    }

    private Instant refusedUntil(GpuEviction object) {
        return refused.getOrDefault(object.getMetadata().getUid(), Instant.EPOCH);
    }

    private void failed(GpuEviction object, RuntimeException e) {
        if (failing.add(object.getMetadata().getUid())) {
            log.atWarn()
                    .setCause(e)
                    .addKeyValue("eviction", object.getMetadata().getName())
                    .log("cannot write down an eviction, or delete it afterwards; trying again");
        }
    }
}
