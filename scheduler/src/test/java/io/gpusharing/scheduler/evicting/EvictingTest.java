package io.gpusharing.scheduler.evicting;

import static io.gpusharing.scheduler.evicting.FakeCluster.uid;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.kubernetes.EvictionPlan;
import io.gpusharing.kubernetes.GpuEviction;
import io.gpusharing.kubernetes.GpuEviction.Answer;
import io.gpusharing.kubernetes.GpuEviction.Status;
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.kubernetes.ObjectInformer;
import io.gpusharing.kubernetes.Rounds;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.scheduler.budgets.Budgets;
import io.gpusharing.scheduler.cluster.PreemptedPods;
import io.gpusharing.scheduler.cluster.RefusedStarts;
import io.gpusharing.testing.SteppingClock;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;

/** A cluster, and a replica that evicts in it. */
abstract class EvictingTest {

    static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");
    static final Instant SETTLES = TEN.plusSeconds(120);
    static final Duration DEADLINE = Duration.ofMinutes(2);

    /** As a plan names it. */
    static final String WAITER =
            """
            {"namespace": "team-b", "name": "w", "uid": "%s", "budget": "team-b"}
            """
                    .formatted(uid("w"));

    final SteppingClock clock = new SteppingClock(TEN);
    final FakeCluster cluster = new FakeCluster(clock);
    final RefusedStarts refused = new RefusedStarts();
    final PreemptedPods preempted = new PreemptedPods(clock);
    final Budgets payers = new Budgets(clock);
    final UnreadableObjects unreadable = new UnreadableObjects(_ -> {}, clock);
    final SimpleMeterRegistry registry = new SimpleMeterRegistry();

    /** Why budgets do not say any more what a plan was made by. */
    Function<EvictionPlan, Optional<String>> whyNotByBudgets = _ -> Optional.empty();

    BooleanSupplier budgetsAreKnown = () -> true;

    Replica replica = replica(Leadership.alone(), registry);

    /** An evictor, and what shows it the plans. */
    record Replica(EvictionWatch watch, Evictor evictor) {}

    @AfterEach
    void close() {
        cluster.close();
    }

    /** One more replica, or the same one after its restart. */
    final Replica replica(Leadership leadership, SimpleMeterRegistry metrics) {
        return replica(leadership, metrics, refused);
    }

    /** The same, by what it has read of nodes itself. */
    final Replica replica(Leadership leadership, SimpleMeterRegistry metrics, RefusedStarts read) {
        var watch =
                new EvictionWatch(
                        new ObjectInformer<>(
                                "gpuevictions",
                                cluster.client().resources(GpuEviction.class),
                                unreadable));
        return new Replica(
                watch,
                EvictingConfiguration.evictor(
                        cluster.client(),
                        new EvictingProperties(
                                "gpusharing-system",
                                "gpusharing-evicting",
                                "scheduler-0",
                                Duration.ofSeconds(60),
                                DEADLINE),
                        read,
                        preempted,
                        watch,
                        unreadable,
                        payers,
                        () -> budgetsAreKnown.getAsBoolean(),
                        plan -> whyNotByBudgets.apply(plan),
                        leadership,
                        new Rounds(
                                "evicting",
                                Duration.ofSeconds(1),
                                LoggerFactory.getLogger(EvictingTest.class),
                                clock),
                        metrics,
                        clock));
    }

    /** The watch shows a replica all that there is, which then works. */
    final void round(Replica one) {
        cluster.evictions().forEach(it -> unreadable.handOver(it, one.watch()::onUpdate));
        one.watch().onListed();
        one.evictor().round();
    }

    final void round() {
        round(replica);
    }

    final void roundAfter(Duration time) {
        clock.set(TEN.plus(time));
        round();
    }

    static String victim(String name) {
        return victim(name, "");
    }

    static String victim(String name, String more) {
        return """
        {"namespace": "team-a", "name": "%s", "uid": "%s", "node": "%s",
         "budget": "team-a", "why": "budget team-a is over", "cost": 3000000%s}
        """
                .formatted(name, uid(name), FakeCluster.NODE, more);
    }

    static String insisting(String name) {
        return victim(name, ", \"refusedSince\": \"2026-03-02T09:50:00Z\"");
    }

    /** The timekeeper plans to evict these for {@code team-b/w}. */
    final void reclaim(String name, String... victims) {
        cluster.store(
                name,
                """
                {"cause": "Reclaim", "node": "%s", "victims": [%s], "settlesAt": "%s",
                 "waiter": %s, "considered": {"spared": {}, "nearest": []}}
                """
                        .formatted(
                                FakeCluster.NODE,
                                Arrays.stream(victims).collect(Collectors.joining(",")),
                                SETTLES,
                                WAITER));
    }

    /** A pod of another budget waits for room. */
    final void waiter() {
        cluster.pod("team-b", "w");
        cluster.bind("team-b/w", null);
    }

    final Status status(String name) {
        return Objects.requireNonNull(cluster.stored(name).getStatus());
    }

    /** What became of a plan, and of each of its victims. */
    final void assertBecame(String name, String phase, String... results) {
        Status status = status(name);
        assertThat(status.phase()).isEqualTo(phase);
        assertThat(Objects.requireNonNullElse(status.victims(), List.<Answer>of()))
                .extracting(Answer::result)
                .containsExactly(results);
    }

    final List<String> events() {
        return cluster.events.stream().map(JsonNode::toString).toList();
    }

    final double evictions(String cause, String result) {
        return registry.counter("gpusharing.evictions", "cause", cause, "result", result).count();
    }
}
