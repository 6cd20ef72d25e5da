package io.gpusharing.scheduler.evicting;

import static io.gpusharing.scheduler.evicting.FakeCluster.NODE;
import static io.gpusharing.scheduler.evicting.FakeCluster.away;
import static io.gpusharing.scheduler.evicting.FakeCluster.eviction;
import static io.gpusharing.scheduler.evicting.FakeCluster.refusal;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.kubernetes.GpuEviction;
import io.gpusharing.kubernetes.GpuEviction.Answer;
import io.gpusharing.kubernetes.GpuEviction.Victim;
import io.gpusharing.kubernetes.GpuNode;
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.wire.GpuNodeStatus;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * For each cause, and for each request to the API server, a replica that is killed before or after
 * that is carried out, and one that takes over.
 */
class KilledAtEachStepTest extends EvictingTest {

    private static final String UID = "11111111-7a55-4b0e-9a5e-1f0a2d7a9c11";

    /** What somebody wants, in a cluster where nothing has happened yet. */
    enum Case {
        RECLAIM {
            @Override
            void prepare(KilledAtEachStepTest test) {
                test.cluster.pod("team-a", "a");
                test.cluster.pod("team-a", "b");
                test.reclaim("plan", victim("a"), victim("b"));
            }
        },
        RECLAIM_THAT_INSISTS {
            @Override
            void prepare(KilledAtEachStepTest test) {
                test.cluster.pod("team-a", "a");
                test.cluster.pod("team-a", "b");
                test.cluster.on(eviction("a"), refusal(429));
                test.reclaim("plan", insisting("a"), victim("b"));
            }
        },
        RECLAIM_THAT_IS_REFUSED {
            @Override
            void prepare(KilledAtEachStepTest test) {
                test.cluster.pod("team-a", "a");
                test.cluster.pod("team-a", "b");
                test.cluster.on(eviction("b"), refusal(429));
                test.reclaim("plan", victim("a"), victim("b"));
            }
        },
        MEMORY_OVERUSE {
            @Override
            void prepare(KilledAtEachStepTest test) {
                test.cluster.pod("team-a", "a");
                test.cluster.store(
                        "plan",
                        "{\"cause\": \"MemoryOveruse\", \"node\": \"gpu-1\", \"victims\": [%s]}"
                                .formatted(victim("a")));
            }
        },
        REFUSED_START {
            @Override
            void prepare(KilledAtEachStepTest test) {
                var pod = test.cluster.pod("team-a", "a");
                pod.withObject("metadata").put("uid", UID);
                pod.withObject("status").put("phase", "Pending");
            }
        },
        PREEMPTION {
            @Override
            void prepare(KilledAtEachStepTest test) {
                test.cluster.pod("team-a", "a");
                test.cluster.pod("team-a", "b");
                test.cluster.store(
                        "plan",
                        """
                        {"cause": "Preemption", "node": "gpu-1", "victims": [%s, %s], "settlesAt": "%s",
                         "waiter": %s}
                        """
                                .formatted(victim("a"), victim("b"), SETTLES, WAITER));
                test.cluster.disrupt("team-a/a", "PreemptionByScheduler");
            }
        };

        abstract void prepare(KilledAtEachStepTest test);
    }

    private void prepare(Case what) {
        cluster.reset();
        clock.set(TEN);
        waiter();
        what.prepare(this);
        var node = new GpuNode();
        node.setMetadata(new ObjectMetaBuilder().withName(NODE).build());
        if (what == Case.REFUSED_START) {
            node.setStatus(
                    new GpuNodeStatus(
                            null,
                            null,
                            List.of(
                                    new GpuNodeStatus.Refused(
                                            UID,
                                            "team-a",
                                            "a",
                                            TEN.toString(),
                                            null,
                                            true,
                                            false,
                                            "No GPU has room"))));
        }
        refused.describe(node);
        replica = replica(Leadership.alone(), registry);
    }

    /** From this request on the replica is not there any more. */
    private void killAt(int step, boolean isCarriedOut) {
        var count = new AtomicInteger();
        cluster.on(
                request -> count.getAndIncrement() >= step,
                request -> {
                    if (isCarriedOut && count.get() == step + 1) {
                        return cluster.answerLost().answer(request);
                    }
                    return away().answer(request);
                });
    }

    private void work() {
        for (int second : List.of(0, 5, 10, 60, 65, 70, 120, 125, 130)) {
            try {
                roundAfter(Duration.ofSeconds(second));
            } catch (KubernetesClientException e) {
                return;
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void whatHappenedHasOneReceiptAndWhatDidNotHasNone(Case what) {
        prepare(what);
        work();
        check(what + " without a kill");
        int steps = cluster.requests.size();
        assertThat(steps).isGreaterThan(5);

        for (int step = 0; step < steps; step++) {
            for (boolean isCarriedOut : new boolean[] {false, true}) {
                prepare(what);
                killAt(step, isCarriedOut);
                work();
                cluster.asUsual();
                if (what == Case.RECLAIM_THAT_INSISTS) {
                    cluster.on(eviction("a"), refusal(429));
                }
                if (what == Case.RECLAIM_THAT_IS_REFUSED) {
                    cluster.on(eviction("b"), refusal(429));
                }
                replica = replica(Leadership.alone(), registry);
                work();
                check("%s, killed at %d (%s)".formatted(what, step, isCarriedOut));
            }
        }
    }

    private void check(String when) {
        assertThat(cluster.evictions()).as(when).hasSize(1);
        GpuEviction eviction = cluster.evictions().getFirst();
        assertThat(eviction.getStatus()).as(when).isNotNull();
        assertThat(eviction.phase())
                .as(when)
                .isIn(GpuEviction.Phase.Done, GpuEviction.Phase.Refused, GpuEviction.Phase.NotDone);
        assertThat(cluster.ended).as(when).doesNotHaveDuplicates();
        assertThat(
                        requireNonNull(eviction.getStatus().victims()).stream()
                                .filter(it -> GpuEviction.Result.valueOf(it.result()).ended())
                                .map(Answer::uid)
                                .flatMap(uid -> named(eviction, uid)))
                .as(when)
                .containsExactlyInAnyOrderElementsOf(cluster.ended);
        if (eviction.cause() != GpuEviction.Cause.Preemption) {
            assertThat(
                            cluster.events.stream()
                                    .map(it -> it.at("/involvedObject/name").asString())
                                    .filter(name -> !name.equals("w")))
                    .as(when)
                    .containsExactlyInAnyOrderElementsOf(cluster.ended);
        }
    }

    private static Stream<String> named(GpuEviction eviction, String uid) {
        return eviction.getSpec().victims().stream()
                .filter(it -> it.uid().equals(uid))
                .map(Victim::name);
    }
}
