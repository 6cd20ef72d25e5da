package io.gpusharing.timekeeper.injection;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.timekeeper.injection.Injection.Off;
import io.gpusharing.timekeeper.injection.Injection.On;
import io.gpusharing.timekeeper.injection.Pull.Done;
import io.gpusharing.timekeeper.injection.Pull.Failing;
import io.gpusharing.timekeeper.injection.Pull.Place;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class PullBreakerTest {

    private static final Instant T = Instant.parse("2026-03-10T12:00:00Z");
    private static final String IMAGE = "gpusharing/sidecar:1";
    private static final Place HERE = at("team-a");

    private final PullBreaker breaker = new PullBreaker(3);

    @Test
    void opensWhenThreePodsCannotPullTheImage() {
        fails(1, 0);
        fails(2, 10);
        assertThat(breaker.injection()).isInstanceOf(On.class);

        fails(3, 20);

        assertThat(breaker.injection()).isEqualTo(off("team-a"));
    }

    @Test
    void onePodThatTriesAgainAndAgainIsOnePod() {
        for (int second = 0; second < 100; second++) {
            fails(1, second);
        }

        assertThat(breaker.injection()).isInstanceOf(On.class);
    }

    @Test
    void aPodThatPulledItInBetweenRestartsTheCount() {
        fails(1, 0);
        fails(2, 1);
        pulls(2);
        fails(3, 3);
        fails(4, 4);

        assertThat(breaker.injection()).isInstanceOf(On.class);
    }

    @Test
    void aPodThatPulledItLongAgoProvesNothing() {
        fails(1, 0);
        fails(2, 1);
        pulls(-3600);
        fails(3, 2);

        assertThat(breaker.injection()).isInstanceOf(Off.class);
    }

    @Test
    void closesWhenAWaitingPodGotItsImage() {
        open();

        pulls(60);

        assertThat(breaker.injection()).isEqualTo(new On(T.plusSeconds(60)));
    }

    @Test
    void remainsOpenWhileOnlyOldContainersRun() {
        open();

        pulls(-1);
        fails(4, 60);

        assertThat(breaker.injection()).isEqualTo(off("team-a"));
    }

    @Test
    void anotherImageIsAnotherMatter() {
        fails(1, 0);
        fails(2, 0);
        breaker.onPod(new Failing(pod(3), T, "gpusharing/sidecar:2", HERE, "a", "gpu-1"), T);
        breaker.onPod(new Done("gpusharing/sidecar:2", HERE, T.plusSeconds(5)), T.plusSeconds(5));
        assertThat(breaker.injection()).isInstanceOf(On.class);

        fails(3, 6);
        breaker.onPod(new Done("gpusharing/sidecar:2", HERE, T.plusSeconds(7)), T.plusSeconds(7));

        assertThat(breaker.injection()).isEqualTo(off("team-a"));
    }

    @Test
    void afterAnAdministratorClosedItThePodsThatStillWaitDoNotOpenItAgain() {
        open();

        breaker.closed(T.plusSeconds(30));
        fails(1, 40);
        fails(2, 40);
        fails(3, 40);
        assertThat(breaker.injection()).isEqualTo(new On(T.plusSeconds(30)));

        for (int pod = 4; pod <= 6; pod++) {
            breaker.onPod(failing(pod, 35), T.plusSeconds(50));
        }
        assertThat(breaker.injection())
                .isEqualTo(new Off(IMAGE, new TreeSet<>(Set.of("team-a")), T.plusSeconds(50), 3));
    }

    @Test
    void goesOnAfterARestartWhereItWas() {
        breaker.restore(off("team-a"));

        pulls(-1);
        assertThat(breaker.injection()).isInstanceOf(Off.class);

        pulls(1);
        assertThat(breaker.injection()).isInstanceOf(On.class);
    }

    /** It chose nodes without a way to the registry, say, or has no credentials for it. */
    @Test
    void oneTenantsPodsStopNobodyElses() {
        for (String namespace : List.of("team-a", "team-b", "team-c", "team-d")) {
            threeFail(at(namespace), "a", "gpu-1", 0);
            threeFail(at(namespace), "a", "gpu-2", 0);
        }

        assertThat(breaker.injection()).isEqualTo(off("team-a", "team-b", "team-c", "team-d"));
    }

    @Test
    void namespacesWithoutABudgetMayAllBeOneTenants() {
        for (String namespace : List.of("team-a", "team-b", "team-c")) {
            threeFail(at(namespace), "", namespace, 0);
        }

        assertThat(breaker.injection()).isEqualTo(off("team-a", "team-b", "team-c"));
    }

    @Test
    void whatSeveralTenantsCannotPullOnSeveralNodesNobodyCan() {
        threeFail(at("team-a"), "a", "gpu-1", 0);
        threeFail(at("team-b"), "b", "gpu-2", 1);
        threeFail(at("team-c"), "c", "gpu-2", 2);

        assertThat(breaker.injection())
                .isEqualTo(new Off(IMAGE, new TreeSet<>(), T, 9))
                .matches(it -> ((Off) it).everywhere());

        pulls(at("team-d"), 60);
        assertThat(breaker.injection()).isEqualTo(new On(T.plusSeconds(60)));
    }

    @Test
    void oneNodeThatCannotPullItIsNotAllOfThem() {
        for (String tenant : List.of("a", "b", "c")) {
            threeFail(at("team-" + tenant), tenant, "gpu-1", 0);
        }

        assertThat(breaker.injection()).isEqualTo(off("team-a", "team-b", "team-c"));
    }

    @Test
    void whatSomebodyPulledMeanwhileIsNotStoppedForAll() {
        threeFail(at("team-a"), "a", "gpu-1", 0);
        threeFail(at("team-b"), "b", "gpu-2", 0);
        pulls(at("team-d"), 1);

        threeFail(at("team-c"), "c", "gpu-3", 2);

        assertThat(breaker.injection()).isEqualTo(off("team-a", "team-b", "team-c"));
    }

    /** An image that is there for one architecture alone. */
    @Test
    void podsOfOneArchitectureDoNotRestartTheCountOfAnother() {
        Place arm = new Place("team-a", "linux/arm64");
        for (int pod = 1; pod <= 3; pod++) {
            breaker.onPod(new Failing(pod(pod), T, IMAGE, arm, "a", "gpu-1"), T);
            pulls(HERE, pod);
        }

        assertThat(breaker.injection()).isEqualTo(off("team-a"));

        pulls(HERE, 60);
        assertThat(breaker.injection()).isEqualTo(off("team-a"));
        pulls(arm, 61);
        assertThat(breaker.injection()).isEqualTo(new On(T.plusSeconds(61)));
    }

    @Test
    void aNamespaceThatPulledItGetsItAgainByItself() {
        threeFail(at("team-a"), "a", "gpu-1", 0);
        threeFail(at("team-b"), "b", "gpu-1", 0);

        pulls(at("team-a"), 60);
        threeFail(at("team-a"), "a", "gpu-1", 30);

        assertThat(breaker.injection()).isEqualTo(off("team-b"));
        threeFail(at("team-a"), "a", "gpu-1", 70);
        assertThat(breaker.injection()).isEqualTo(off("team-a", "team-b"));
    }

    @Test
    void canBeSwitchedOff() {
        var never = new PullBreaker(0);
        for (int pod = 0; pod < 100; pod++) {
            never.onPod(failing(pod, 0), T);
        }

        assertThat(never.injection()).isInstanceOf(On.class);
    }

    private void open() {
        fails(1, 0);
        fails(2, 0);
        fails(3, 0);
        assertThat(breaker.injection()).isInstanceOf(Off.class);
    }

    private void fails(int pod, long second) {
        breaker.onPod(failing(pod, 0), T.plusSeconds(second));
    }

    private void pulls(long second) {
        pulls(HERE, second);
    }

    private void pulls(Place place, long second) {
        breaker.onPod(
                new Done(IMAGE, place, T.plusSeconds(second)), T.plusSeconds(Math.max(0, second)));
    }

    private static Failing failing(int pod, long created) {
        return new Failing(pod(pod), T.plusSeconds(created), IMAGE, HERE, "a", "gpu-1");
    }

    /** Three pods of a namespace. */
    private void threeFail(Place place, String budget, String node, long second) {
        for (int i = 0; i < 3; i++) {
            breaker.onPod(
                    new Failing(
                            UUID.randomUUID(), T.plusSeconds(second), IMAGE, place, budget, node),
                    T.plusSeconds(second));
        }
    }

    private static Place at(String namespace) {
        return new Place(namespace, "linux/amd64");
    }

    private static Off off(String... namespaces) {
        return new Off(IMAGE, new TreeSet<>(Set.of(namespaces)), T, 3 * namespaces.length);
    }

    private static UUID pod(int number) {
        return new UUID(0, number);
    }
}
