package io.gpusharing.timekeeper.budget.status;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.testing.SteppingClock;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class UnreadableWatchTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");

    private final SteppingClock clock = new SteppingClock(TEN);
    private final UnreadableObjects objects = new UnreadableObjects(object -> {}, clock);
    private final UnreadableWatch watch = new UnreadableWatch(objects, Leadership.alone(), clock);

    private static Pod pod(String namespace, String name) {
        return new PodBuilder()
                .withNewMetadata()
                .withNamespace(namespace)
                .withName(name)
                .endMetadata()
                .build();
    }

    private void cannotBeRead(HasMetadata object) {
        objects.handOver(
                object,
                it -> {
                    throw new IllegalArgumentException("4x is no amount");
                });
    }

    @Test
    void theFirstOfTheNamespacesIsNamedWithTheirNumber() {
        cannotBeRead(pod("team-b", "other"));
        cannotBeRead(pod("team-a", "second"));
        cannotBeRead(pod("team-a", "first"));
        cannotBeRead(new NodeBuilder().withNewMetadata().withName("n1").endMetadata().build());

        watch.work(TEN);

        assertThat(watch.in("team-a"::equals))
                .contains(
                        "2 objects cannot be read, first Pod team-a/first; an Event on each says why");
        assertThat(watch.in("team-b"::equals))
                .contains("1 object cannot be read: Pod team-b/other; an Event on it says why");
        assertThat(watch.in("team-c"::equals)).contains("");
    }

    @Test
    void whatHasGoneIsSaidNoMore() {
        cannotBeRead(pod("team-a", "odd"));
        watch.work(TEN);
        objects.forget(pod("team-a", "odd"));

        assertThat(watch.work(TEN)).isEqualTo(TEN.plusSeconds(30));

        assertThat(watch.in("team-a"::equals)).contains("");
    }

    @Test
    void listenersAreCalledOnlyWhenSomethingChanges() {
        var calls = new AtomicInteger();
        watch.listen(calls::incrementAndGet);
        cannotBeRead(pod("team-a", "odd"));

        watch.work(TEN);
        watch.work(TEN.plusSeconds(30));

        assertThat(calls).hasValue(1);
    }

    @Test
    void aNewLeaderSaysNothingBeforeItHasListedThePods() {
        watch.takeOver();
        watch.work(TEN);
        assertThat(watch.in("team-a"::equals)).isEmpty();

        watch.work(TEN.plusSeconds(30));
        assertThat(watch.in("team-a"::equals)).contains("");

        watch.handOver();
        assertThat(watch.in("team-a"::equals)).isEmpty();
    }
}
