package io.gpusharing.timekeeper.reclaim;

import io.fabric8.kubernetes.client.utils.Serialization;
import io.gpusharing.budget.GpuBudgetSpec;
import io.gpusharing.budget.GpuBudgetSpec.OnExhausted;
import io.gpusharing.kubernetes.GpuEviction;
import io.gpusharing.kubernetes.GpuEviction.Answer;
import io.gpusharing.kubernetes.GpuEviction.Outcome;
import io.gpusharing.kubernetes.GpuEviction.Phase;
import io.gpusharing.kubernetes.GpuEviction.Result;
import io.gpusharing.kubernetes.GpuEviction.Status;
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.kubernetes.Unreadable;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.request.grammar.VcudaGrammar;
import io.gpusharing.sharing.ProviderAsk;
import io.gpusharing.testing.SteppingClock;
import io.gpusharing.timekeeper.allocation.PodFacts;
import io.gpusharing.timekeeper.allocation.PodFacts.Placement;
import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.budget.TestBudgets;
import io.gpusharing.timekeeper.budget.TestBudgets.Written;
import io.gpusharing.timekeeper.cluster.ClusterView;
import io.gpusharing.timekeeper.cluster.ClusterViews;
import io.gpusharing.timekeeper.ledger.posting.TestLedger;
import io.gpusharing.timekeeper.receipt.EvictionWatch;
import io.gpusharing.timekeeper.testing.FakeApiServer;
import io.gpusharing.timekeeper.testing.FakeApiServer.Asked;
import io.gpusharing.timekeeper.testing.Pods;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * One GPU, which the pod {@code old} of a budget that is used up holds, and the pod {@code w} in
 * budget, which waits for it. Tests play the scheduler's evictor.
 */
final class TwoTeams implements AutoCloseable {

    static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");

    final FakeApiServer api = new FakeApiServer();
    final SteppingClock clock = new SteppingClock(TEN);
    final List<Unreadable> unread = new ArrayList<>();
    final Pods waiter = Pods.waiting("team-b", 100, 0);
    private final Pods gpuPod = Pods.waiting("team-a", 100, 0).boundAt(TEN.minusSeconds(1_200));
    private final Budgets budgets;

    /** More metadata of the pod that holds the GPU, with a comma behind it. */
    String metadata = "";

    /** Pods beside these two, each with a comma behind it. */
    String others = "";

    ReclaimProperties properties = Readers.properties(true);

    TwoTeams() throws IOException {
        GpuBudgetSpec plain = GpuBudgetSpec.monthly(List.of("team-a"), "1");
        var spent =
                new Written(
                        "team-a",
                        TEN.minusSeconds(1_200),
                        1,
                        new GpuBudgetSpec(
                                plain.namespaces(),
                                plain.gpuMinutes(),
                                plain.period(),
                                plain.rollover(),
                                plain.debt(),
                                OnExhausted.Reclaim,
                                plain.chargeBy(),
                                plain.share(),
                                plain.warnAtPercent(),
                                plain.minimumRunTime()),
                        false);
        var ledger =
                new TestLedger(
                        TEN.minusSeconds(1_200),
                        spent,
                        TestBudgets.monthly("team-b", TEN.minusSeconds(1_200), "100", "team-b"));
        ledger.onUpdate(gpuPod);
        ledger.pass(java.time.Duration.ofMinutes(20));
        // Budgets are as of when they were computed.
        ledger.restart();
        budgets = ledger.budgets();
    }

    /** What a replica knows of the {@code GpuEviction} objects. */
    final class Replica {
        final UnreadableObjects unreadable = new UnreadableObjects(unread::add);
        final EvictionWatch watch = new EvictionWatch(api.client(), unreadable);
        final SimpleMeterRegistry registry = new SimpleMeterRegistry();
        final Reclaimer reclaimer;

        Replica(Leadership leadership, @Nullable Reservations reservations) {
            Reservations own =
                    reservations == null
                            ? new Reservations(api.client(), unreadable, properties)
                            : reservations;
            ClusterView view = ClusterViews.showing(waiting());
            reclaimer =
                    new Reclaimer(
                            view,
                            budgets,
                            new ClusterSnapshotReader(
                                    api.client(),
                                    budgets,
                                    view,
                                    new RequestGrammars(List.of(new VcudaGrammar())),
                                    new ProviderAsk(Map.of()),
                                    own,
                                    unreadable,
                                    "gpusharing-system",
                                    properties,
                                    clock),
                            new ReclaimEvictions(api.client(), watch, unreadable),
                            own,
                            properties,
                            new ReclaimMetrics(registry),
                            leadership,
                            clock);
        }

        /** A round at this second after ten. */
        void work(long seconds) {
            work(TEN.plusSeconds(seconds));
        }

        void work(Instant now) {
            clock.set(now);
            reclaimer.work(now);
        }

        /** Waiters for whom nobody goes, for this reason. */
        double left(String reason) {
            return registry.get("gpusharing.reclaim.waiting").tag("reason", reason).gauge().value();
        }

        /** The watch shows an object, or says that it cannot be read. */
        void sees(GpuEviction object) {
            unreadable.handOver(object, watch::onUpdate);
        }
    }

    /** One that leads, and knows that there has been no eviction. */
    Replica replica() {
        return replica(Leadership.alone(), null);
    }

    /** One that knows that there has been no eviction. */
    Replica replica(Leadership leadership, @Nullable Reservations reservations) {
        exist();
        var replica = new Replica(leadership, reservations);
        replica.watch.onListed();
        return replica;
    }

    String victim() {
        return gpuPod.uid().toString();
    }

    private PodFacts waiting() {
        PodFacts waits = waiter.facts();
        return new PodFacts(
                waits.uid(),
                waits.namespace(),
                waits.name(),
                waits.owner(),
                waits.request(),
                waits.claimed(),
                waits.annotations(),
                new Placement(null, null, 0, false, TEN.minusSeconds(300)),
                waits.lifecycle());
    }

    private void exist() {
        api.answer(
                "/nodes",
                """
                {"metadata": {"resourceVersion": "1"}, "items": [{"metadata": {"name": "gpu-1"}, "status": {"allocatable":
                  {"tencent.com/vcuda-core": "100", "tencent.com/vcuda-memory": "60", "cpu": "16", "pods": "110"}}}]}
                """);
        api.answer(
                "/namespaces",
                """
                {"metadata": {"resourceVersion": "1"}, "items": [{"metadata": {"name": "team-a"}}, {"metadata": {"name": "team-b"}}]}
                """);
        api.answer(
                "/pods",
                """
                {"metadata": {"resourceVersion": "1"}, "items": [ %s
                  {"metadata": {"name": "old", "namespace": "team-a", "uid": "%s", "creationTimestamp": "2026-03-02T09:40:00Z", %s
                    "labels": {"gpusharing.io/metered": "true"},
                    "annotations": {"tencent.com/predicate-gpu-idx-0": "0"}},
                   "spec": {"nodeName": "gpu-1", "priority": 0, "containers": [{"name": "cuda", "resources":
                     {"limits": {"tencent.com/vcuda-core": "100"}, "requests": {"tencent.com/vcuda-core": "100"}}}]},
                   "status": {"phase": "Running", "startTime": "2026-03-02T09:40:00Z", "conditions":
                     [{"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-03-02T09:40:00Z"}]}},
                  {"metadata": {"name": "w", "namespace": "team-b", "uid": "%s", "creationTimestamp": "2026-03-02T09:55:00Z"},
                   "spec": {"priority": 0, "containers": [{"name": "cuda", "resources":
                     {"limits": {"tencent.com/vcuda-core": "100"}, "requests": {"tencent.com/vcuda-core": "100"}}}]},
                   "status": {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False",
                     "reason": "Unschedulable", "lastTransitionTime": "2026-03-02T09:55:00Z"}]}}]}
                """
                        .formatted(others, gpuPod.uid(), metadata, waiter.uid()));
    }

    void theOnlyGpuIs(String health) {
        api.answer(
                "/gpunodes",
                """
                {"metadata": {"resourceVersion": "1"}, "items": [{"metadata": {"name": "gpu-1"}, "status": {"gpus":
                  [{"uuid": "GPU-0", "memoryMiB": 15360, "health": "%s", "mode": "Idle"}]}}]}
                """
                        .formatted(health));
    }

    /** Where the room is kept. */
    String reservation() {
        return "/gpureservations/" + waiter.uid();
    }

    /** Whatever was written there, each in turn. */
    List<String> reservations() {
        return api.to(reservation()).stream()
                .filter(it -> it.method().equals("PATCH"))
                .map(Asked::body)
                .toList();
    }

    /** The evictions that the API server has taken, in turn, as it stores them. */
    List<GpuEviction> orders() {
        return api.taken.stream()
                .filter(it -> it.path().endsWith("/gpuevictions") && it.method().equals("POST"))
                .map(it -> stored(Serialization.unmarshal(it.body(), GpuEviction.class), TEN))
                .toList();
    }

    /** How often one was to be created. */
    long attempts() {
        return api.to("/gpuevictions").stream().filter(it -> it.method().equals("POST")).count();
    }

    static GpuEviction stored(GpuEviction object, Instant at) {
        object.getMetadata()
                .setUid(new UUID(1, object.getMetadata().getName().hashCode()).toString());
        object.getMetadata().setCreationTimestamp(at.toString());
        return object;
    }

    /** The evictor has had this answer to each victim. */
    static GpuEviction answered(
            GpuEviction order, Phase phase, Result result, @Nullable Outcome outcome) {
        order.setStatus(
                new Status(
                        phase.name(),
                        order.getMetadata().getCreationTimestamp(),
                        order.getSpec().victims().stream()
                                .map(it -> new Answer(it.uid(), result.name(), null))
                                .toList(),
                        null,
                        null,
                        outcome));
        return order;
    }

    @Override
    public void close() {
        api.close();
    }
}
