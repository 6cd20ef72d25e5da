package io.gpusharing.scheduler.evicting;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.kubernetes.GpuEviction;
import io.gpusharing.kubernetes.GpuEviction.Answer;
import io.gpusharing.kubernetes.GpuEviction.Status;
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.kubernetes.ObjectInformer;
import io.gpusharing.kubernetes.Rounds;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.scheduler.cluster.RefusedStarts;
import io.gpusharing.testing.SteppingClock;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;

/** A cluster, and a replica that evicts in it. */
abstract class EvictingTest {

    static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");
    static final Instant SETTLES = TEN.plusSeconds(120);
    static final Duration DEADLINE = Duration.ofMinutes(2);

    final SteppingClock clock = new SteppingClock(TEN);
    final FakeCluster cluster = new FakeCluster(clock);
    final RefusedStarts refused = new RefusedStarts();
    final UnreadableObjects unreadable = new UnreadableObjects(_ -> {}, clock);
    final SimpleMeterRegistry registry = new SimpleMeterRegistry();

    /** Whether budgets still say what plans were made by. */
    Overruns overruns =
            new Overruns() {
                @Override
                public boolean areKnown() {
                    return true;
                }

                @Override
                public Optional<String> whyNot(Plan plan) {
                    return Optional.empty();
                }
            };

    Evictor evictor = replica(Leadership.alone(), registry);

    @AfterEach
    void close() {
        cluster.close();
    }

    /** One more replica, or the same one after its restart. */
    final Evictor replica(Leadership leadership, SimpleMeterRegistry metrics) {
        return replica(leadership, metrics, refused);
    }

    /** The same, by what it has read of nodes itself. */
    final Evictor replica(Leadership leadership, SimpleMeterRegistry metrics, RefusedStarts read) {
        return EvictingConfiguration.evictor(
                cluster.client(),
                new EvictingProperties(
                        "gpusharing-system",
                        "gpusharing-evicting",
                        "scheduler-0",
                        Duration.ofSeconds(60),
                        DEADLINE),
                read,
                new EvictionWatch(
                        new ObjectInformer<>(
                                "gpuevictions",
                                cluster.client().resources(GpuEviction.class),
                                unreadable)),
                unreadable,
                overruns,
                leadership,
                new Rounds(
                        "evicting",
                        Duration.ofSeconds(1),
                        LoggerFactory.getLogger(EvictingTest.class),
                        clock),
                metrics,
                clock);
    }

    /** The watch shows a replica all that there is, which then works. */
    final void round(Evictor replica) {
        cluster.evictions().forEach(it -> unreadable.handOver(it, replica.watch()::onUpdate));
        replica.watch().onListed();
        replica.round();
    }

    final void round() {
        round(evictor);
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
        {"namespace": "team-a", "name": "%s", "uid": "uid-%1$s", "node": "%s",
         "budget": "team-a", "why": "budget team-a is over", "cost": 3000000%s}
        """
                .formatted(name, FakeCluster.NODE, more);
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
                 "waiter": {"namespace": "team-b", "name": "w", "uid": "uid-w", "budget": "team-b"},
                 "considered": {"spared": {}, "nearest": []}}
                """
                        .formatted(
                                FakeCluster.NODE,
                                Arrays.stream(victims).collect(Collectors.joining(",")),
                                SETTLES));
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
