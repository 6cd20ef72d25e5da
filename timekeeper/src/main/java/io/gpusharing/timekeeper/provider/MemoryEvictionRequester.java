package io.gpusharing.timekeeper.provider;

import static java.util.stream.Collectors.toMap;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.kubernetes.GpuEviction;
import io.gpusharing.kubernetes.GpuEviction.Cause;
import io.gpusharing.kubernetes.GpuEviction.Victim;
import io.gpusharing.kubernetes.GpuEvictions;
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.kubernetes.PodFacts;
import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.budget.account.BudgetState;
import io.gpusharing.timekeeper.cluster.ClusterView;
import io.gpusharing.timekeeper.receipt.EvictionWatch;
import io.gpusharing.web.LeaderTask;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/**
 * Asks for the eviction of pods that hold more memory of a GPU than they were given, for as long as
 * the site gives them; by default it asks for none. What was asked for is taken back if the pod has
 * given the memory back before the scheduler's evictor has ended it.
 */
@Component
class MemoryEvictionRequester extends LeaderTask {

    private static final Logger log = LoggerFactory.getLogger(MemoryEvictionRequester.class);

    /** Until what is there is known, after a start. */
    private static final Duration AGAIN = Duration.ofSeconds(1);

    private final KubernetesClient client;
    private final EvictionWatch watch;
    private final MemoryExcesses excesses;
    private final ClusterView view;
    private final Budgets budgets;
    private final ProviderProperties.MemoryOveruse policy;

    MemoryEvictionRequester(
            KubernetesClient client,
            EvictionWatch watch,
            MemoryExcesses excesses,
            ClusterView view,
            Budgets budgets,
            ProviderProperties properties,
            Leadership leadership,
            Clock clock) {
        super("memory-overuse", leadership, clock);
        this.client = client;
        this.watch = watch;
        this.excesses = excesses;
        this.view = view;
        this.budgets = budgets;
        this.policy = properties.memoryOveruse();
    }

    @Override
    protected @Nullable Instant work(Instant now) {
        if (!watch.isListed() || !view.listed()) {
            return now.plus(AGAIN);
        }
        List<MemoryExcess> lasting =
                policy.evicts() ? excesses.lasting(policy.after(), now) : List.of();
        Map<String, MemoryExcess> byName =
                lasting.stream().collect(toMap(MemoryEvictionRequester::name, Function.identity()));
        KubernetesClientException failure = null;
        for (GpuEviction asked : watch.all()) {
            if (asked.cause() == Cause.MemoryOveruse
                    && asked.isPending()
                    && !byName.containsKey(asked.getMetadata().getName())
                    && leads()) {
                failure = attempt(() -> takeBack(asked), failure);
            }
        }
        for (Map.Entry<String, MemoryExcess> excess : byName.entrySet()) {
            if (watch.byName(excess.getKey()).isEmpty() && isMeant(excess.getValue()) && leads()) {
                failure = attempt(() -> ask(excess.getKey(), excess.getValue(), now), failure);
            }
        }
        if (failure != null) {
            throw failure;
        }
        return null;
    }

    /** Whatever goes wrong, the others have their turn. */
    private static @Nullable KubernetesClientException attempt(
            Runnable step, @Nullable KubernetesClientException failure) {
        try {
            step.run();
            return failure;
        } catch (KubernetesClientException e) {
            return e;
        }
    }

    private static String name(MemoryExcess excess) {
        return "memory-%s-%d".formatted(excess.pod(), excess.since().getEpochSecond());
    }

    /** An agent is believed about pods of its own node alone. */
    private boolean isMeant(MemoryExcess excess) {
        return view.pod(excess.pod())
                .filter(it -> isSame(it, excess))
                .filter(it -> excess.node().equals(it.placement().node()))
                .filter(it -> !it.lifecycle().terminal())
                .isPresent();
    }

    private static boolean isSame(PodFacts pod, MemoryExcess excess) {
        return pod.namespace().equals(excess.namespace()) && pod.name().equals(excess.name());
    }

    private void ask(String name, MemoryExcess excess, Instant now) {
        Optional<BudgetState> budget = budgets.ofNamespace(excess.namespace());
        GpuEviction order =
                GpuEvictions.of(
                        name,
                        Cause.MemoryOveruse,
                        new Victim(
                                excess.namespace(),
                                excess.name(),
                                excess.pod().toString(),
                                excess.node(),
                                budget.map(BudgetState::name).orElse(null),
                                budget.map(it -> it.standing(now).word()).orElse(null),
                                null,
                                excess.words(),
                                null,
                                null,
                                null));
        if (!GpuEvictions.create(client, order)) {
            // It has been asked for already, and the watch does not show it yet.
            return;
        }
        log.atInfo()
                .addKeyValue("pod", excess.namespace() + "/" + excess.name())
                .addKeyValue("node", excess.node())
                .addKeyValue("reason", excess.words())
                .log("asked for the eviction of a pod that holds too much GPU memory");
    }

    /** As it was read: once the evictor has begun, it is another version, and stays. */
    private void takeBack(GpuEviction asked) {
        if (!GpuEvictions.delete(client, asked)) {
            return;
        }
        log.atInfo()
                .addKeyValue("eviction", asked.getMetadata().getName())
                .log("took back what was asked for: the pod has given the memory back");
    }
}
