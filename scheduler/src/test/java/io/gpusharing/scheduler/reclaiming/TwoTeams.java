package io.gpusharing.scheduler.reclaiming;

import io.fabric8.kubernetes.client.utils.Serialization;
import io.gpusharing.kubernetes.GpuEviction;
import io.gpusharing.kubernetes.GpuEviction.Answer;
import io.gpusharing.kubernetes.GpuEviction.Outcome;
import io.gpusharing.kubernetes.GpuEviction.Phase;
import io.gpusharing.kubernetes.GpuEviction.Result;
import io.gpusharing.kubernetes.GpuEviction.Status;
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.kubernetes.ObjectInformer;
import io.gpusharing.kubernetes.PodSharing;
import io.gpusharing.kubernetes.Unreadable;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.request.grammar.VcudaGrammar;
import io.gpusharing.scheduler.budgets.Budgets;
import io.gpusharing.scheduler.budgets.FreshBudgets;
import io.gpusharing.scheduler.budgets.KnownGrants;
import io.gpusharing.scheduler.cluster.SchedulerName;
import io.gpusharing.scheduler.evicting.EvictionWatch;
import io.gpusharing.scheduler.picture.reading.ClusterSnapshotReader;
import io.gpusharing.scheduler.picture.reading.KnownCluster;
import io.gpusharing.scheduler.picture.reading.ReadingSettings;
import io.gpusharing.scheduler.pods.DisruptionBudgets;
import io.gpusharing.scheduler.pods.Gangs;
import io.gpusharing.scheduler.reservation.Reservations;
import io.gpusharing.scheduler.testing.BudgetObjects;
import io.gpusharing.scheduler.testing.FakeApiServer.Request;
import io.gpusharing.scheduler.testing.RecordingApiServer;
import io.gpusharing.scheduler.testing.ShownCluster;
import io.gpusharing.sharing.ProviderAsk;
import io.gpusharing.testing.SteppingClock;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * One GPU, which the pod {@code old} of a budget that is over by 19 minutes at ten holds, and the
 * pod {@code w} in budget, which waits for it. Tests play the scheduler's evictor.
 */
final class TwoTeams implements AutoCloseable {

    static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");

    final RecordingApiServer api = new RecordingApiServer();
    final SteppingClock clock = new SteppingClock(TEN);
    final List<Unreadable> unread = new ArrayList<>();
    private final UUID waiter = UUID.randomUUID();
    private final UUID gpuPod = UUID.randomUUID();

    /** More metadata of the pod that holds the GPU, with a comma behind it. */
    String metadata = "";

    /** Pods beside these two, each with a comma behind it. */
    String others = "";

    ReclaimProperties properties = properties(null);

    /** As by default, but with the right to delete. */
    static ReclaimProperties insistingAfter(Duration time) {
        return properties(time);
    }

    static ReclaimProperties properties(@Nullable Duration insistAfter) {
        return new ReclaimProperties(
                false,
                Duration.ofSeconds(10),
                Duration.ofMinutes(1),
                Duration.ofSeconds(1),
                Duration.ofMinutes(1),
                10,
                Duration.ofHours(24),
                Duration.ofMinutes(5),
                insistAfter,
                true);
    }

    /** The timekeeper's word is of so long before each round. */
    Duration silence = Duration.ZERO;

    /** What a replica knows of the {@code GpuEviction} objects. */
    final class Replica {
        final UnreadableObjects unreadable = new UnreadableObjects(unread::add);
        final EvictionWatch watch =
                new EvictionWatch(
                        new ObjectInformer<>(
                                "gpuevictions",
                                api.client().resources(GpuEviction.class),
                                unreadable));
        final Budgets budgets = new Budgets(clock);
        final FreshBudgets fresh =
                new FreshBudgets(
                        api.client(),
                        "gpusharing-system",
                        new KnownGrants(),
                        Optional::empty,
                        unreadable);
        final ReadingSettings settings =
                properties.reading(
                        "gpusharing-system",
                        Gangs.OF_JOBS,
                        new SchedulerName("gpusharing-scheduler"),
                        PodSharing.NONE,
                        -100);
        final DisruptionBudgets disruptions = new DisruptionBudgets();
        final KnownCluster known =
                new KnownCluster(
                        new RequestGrammars(List.of(new VcudaGrammar())),
                        new ProviderAsk(Map.of()),
                        settings,
                        disruptions);
        final ShownCluster shown = new ShownCluster(api, known, disruptions, unreadable);
        final SimpleMeterRegistry registry = new SimpleMeterRegistry();
        final Reclaimer reclaimer;

        Replica(Leadership leadership, @Nullable Reservations reservations) {
            Reservations own =
                    reservations == null
                            ? new Reservations(api.client(), unreadable)
                            : reservations;
            budgets.onUpdate(BudgetObjects.read(BudgetObjects.budget("team-a", -19 * 60, TEN)));
            budgets.onUpdate(BudgetObjects.read(BudgetObjects.budget("team-b", 100 * 60, TEN)));
            budgets.onListed();
            reclaimer =
                    new Reclaimer(
                            budgets,
                            new ClusterSnapshotReader(
                                    api.client(),
                                    shown,
                                    known,
                                    budgets,
                                    fresh,
                                    unreadable,
                                    settings,
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
            api.answer(
                    "/leases/gpusharing-ledger", BudgetObjects.word(now.minus(silence)).toString());
            shown.show();
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

    /** UID of the pod that waits. */
    String waiter() {
        return waiter.toString();
    }

    /** UID of the pod that holds the GPU. */
    String victim() {
        return gpuPod.toString();
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
                        .formatted(others, gpuPod, metadata, waiter));
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
        return "/gpureservations/" + waiter;
    }

    /** Whatever was written there and taken, each in turn. */
    List<String> reservations() {
        return api.taken.stream()
                .filter(it -> it.path().contains("/gpureservations"))
                .filter(it -> List.of("POST", "PATCH").contains(it.method()))
                .map(Request::body)
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
