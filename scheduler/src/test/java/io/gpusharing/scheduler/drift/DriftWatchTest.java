package io.gpusharing.scheduler.drift;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.placement.Gpu;
import io.gpusharing.placement.SharedNode;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.scheduler.gpus.ClusterGpus;
import io.gpusharing.scheduler.gpus.Drift;
import io.gpusharing.scheduler.gpus.GpuPod;
import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.web.Parts;
import io.gpusharing.wire.GpuHold;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class DriftWatchTest {

    private static final GpuAsk HALF = new GpuAsk(1, 50, 500, false);

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final ClusterGpus gpus = new ClusterGpus(Duration.ofSeconds(30));
    private final List<Drift> told = new ArrayList<>();
    private boolean known = true;
    private final DriftWatch metrics =
            new DriftWatch(
                    registry,
                    gpus,
                    () -> known,
                    told::add,
                    new DriftProperties(true),
                    new Parts(registry, rounds -> {}, Clock.systemUTC()));

    private void share(Map<String, List<GpuHold>> granted, String... refused) {
        gpus.describe(
                new SharedNode(
                        "node",
                        List.of(new Gpu("one", 100, 1_000), new Gpu("two", 100, 1_000)),
                        List.of(),
                        granted,
                        Map.of(),
                        "",
                        false,
                        Set.of(refused)));
    }

    private void bind(String uid, GpuAsk ask, Set<String> on) {
        gpus.bind(
                new GpuPod(uid, "team-a", uid, List.of(new ContainerAsk("c", Kind.App, ask, on))),
                "node");
    }

    private static List<GpuHold> half(String gpu) {
        return List.of(new GpuHold(gpu, 50, 500, false));
    }

    private double drift(String kind) {
        return registry.get("gpusharing.scheduler.drift").tags("kind", kind).gauge().value();
    }

    private void assertNoneBut(String kind) {
        metrics.look();
        metrics.look();
        for (String each : List.of("overbooked", "elsewhere", "unplaced", "gone")) {
            assertThat(drift(each)).as(each).isEqualTo(each.equals(kind) ? 1 : 0);
        }
    }

    @Test
    void whatAgreesIsNoDrift() {
        share(Map.of("granted", half("one")));
        bind("granted", HALF, Set.of("one"));
        bind("bound", HALF, Set.of("one"));
        bind("whole", new GpuAsk(1, 100, 0, true), Set.of("two"));

        assertNoneBut("");
    }

    @Test
    void aPodThatWasGrantedAnotherGpuThanThatOfItsBindingIsElsewhere() {
        share(Map.of("pod", half("two")));
        bind("pod", HALF, Set.of("one"));

        assertNoneBut("elsewhere");
    }

    @Test
    void aPodThatNamesTheNodeItselfIsUnplacedUntilItIsGrantedSomething() {
        share(Map.of());
        bind("past us", HALF, Set.of());

        assertNoneBut("unplaced");

        share(Map.of("past us", half("one")));

        assertNoneBut("");
    }

    @Test
    void aPodThatTheDevicePluginRefusedForGoodKeepsNobodyFromAnything() {
        share(Map.of(), "past us");
        bind("past us", HALF, Set.of());

        assertNoneBut("");
    }

    @Test
    void aGrantOutlivesItsPod() {
        share(Map.of("pod", half("one")));

        assertNoneBut("gone");
    }

    @Test
    void whatIsOverSoonIsNoDriftNorWhatIsNotReadYet() {
        known = false;
        share(Map.of("pod", half("one")));
        assertNoneBut("");

        known = true;
        metrics.look();
        assertThat(drift("gone")).isZero();
        metrics.look();
        assertThat(drift("gone")).isEqualTo(1);
    }

    @Test
    void whatLastsIsToldOnce() {
        share(Map.of("pod", half("one")));
        metrics.look();
        assertThat(told).isEmpty();

        metrics.look();
        metrics.look();
        assertThat(told).containsExactly(new Drift(Drift.Kind.GONE, "node", "pod"));

        share(Map.of());
        metrics.look();
        share(Map.of("pod", half("one")));
        metrics.look();
        metrics.look();
        assertThat(told).hasSize(2);
    }

    @Test
    void ofVeryManyEachIsToldInItsTurn() {
        share(
                IntStream.range(0, 50)
                        .boxed()
                        .collect(Collectors.toMap(pod -> "pod-" + pod, pod -> half("one"))));
        for (int look = 0; look < 6; look++) {
            metrics.look();
        }

        assertThat(told.stream().filter(it -> it.kind() == Drift.Kind.GONE))
                .hasSize(50)
                .doesNotHaveDuplicates();
    }

    @Test
    void threeHalvesOfAGpuAreTooMany() {
        share(Map.of());
        bind("a", HALF, Set.of("one"));
        bind("b", HALF, Set.of("one"));
        bind("c", HALF, Set.of("one"));

        assertNoneBut("overbooked");
    }

    @Test
    void aPartOfSomebodysWholeGpuIsTooMuch() {
        share(Map.of());
        bind("whole", new GpuAsk(1, 0, 0, true), Set.of("one"));
        bind("part", new GpuAsk(1, 0, 10, false), Set.of("one"));

        assertNoneBut("overbooked");
    }
}
