package io.gpusharing.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.testing.SteppingClock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class UnreadableObjectsTest {

    private final List<Unreadable> told = new ArrayList<>();
    private final SteppingClock clock = new SteppingClock(Instant.parse("2026-03-02T10:00:00Z"));
    private final UnreadableObjects objects = new UnreadableObjects(told::add, clock);

    private static Pod pod(String name) {
        return new PodBuilder()
                .withNewMetadata()
                .withNamespace("lab")
                .withName(name)
                .withUid("uid-of-" + name)
                .endMetadata()
                .build();
    }

    private static final String LONG = "x".repeat(1_000_000);

    private static String fail(Pod pod) {
        throw new IllegalArgumentException(LONG);
    }

    @Test
    void anObjectThatCannotBeReadIsToldOnceAndInShort() {
        assertThat(objects.read(pod("one"), UnreadableObjectsTest::fail)).isEmpty();
        assertThat(objects.read(pod("one"), UnreadableObjectsTest::fail)).isEmpty();

        assertThat(told)
                .singleElement()
                .isEqualTo(
                        new Unreadable(
                                "v1", "Pod", "lab", "one", "uid-of-one", "x".repeat(300) + "…"));
        assertThat(objects.present()).isEqualTo(told);
    }

    @Test
    void anObjectThatIsNestedTooDeepForItsReaderIsOneOfThem() {
        assertThat(
                        objects.read(
                                pod("deep"),
                                _ -> {
                                    throw new StackOverflowError();
                                }))
                .isEmpty();

        assertThat(told).extracting(Unreadable::why).containsExactly("It is nested too deep");
    }

    @Test
    void anObjectThatIsReadAgainIsNotAmongThem() {
        objects.read(pod("one"), UnreadableObjectsTest::fail);
        objects.read(pod("two"), UnreadableObjectsTest::fail);

        assertThat(objects.read(pod("one"), it -> it.getMetadata().getName())).contains("one");
        objects.forget(pod("two"));

        assertThat(objects.present()).isEmpty();
    }

    @Test
    void whatOneReaderCannotReadAnotherDoesNotTakeBack() {
        UnreadableObjects amounts = objects.ofReader();
        UnreadableObjects labels = objects.ofFollower();
        amounts.read(pod("one"), UnreadableObjectsTest::fail);
        labels.read(pod("one"), UnreadableObjectsTest::fail);

        labels.read(pod("one"), it -> "read");
        labels.forgetAll(it -> true);
        assertThat(objects.present()).as("of all readers").hasSize(1);

        amounts.read(pod("one"), it -> "read");
        assertThat(objects.present()).isEmpty();
        assertThat(told).as("by whoever was the first").hasSize(1);
    }

    @Test
    void anObjectThatNobodyHasLookedAtForTenMinutesIsUnreadableOnlyToThoseWhoFollowIt() {
        objects.ofFollower().read(pod("followed"), UnreadableObjectsTest::fail);
        objects.read(pod("looked-at"), UnreadableObjectsTest::fail);
        objects.read(pod("gone"), UnreadableObjectsTest::fail);
        clock.pass(Duration.ofMinutes(6));
        objects.read(pod("looked-at"), UnreadableObjectsTest::fail);

        clock.pass(Duration.ofMinutes(6));

        assertThat(objects.present())
                .extracting(Unreadable::name)
                .containsExactlyInAnyOrder("followed", "looked-at");
        assertThat(told).hasSize(3);
    }

    @Test
    void whatIsWrongHoldsNothingThatALogOrADatabaseDoesNotTake() {
        objects.read(
                pod("one"),
                it -> {
                    throw new IllegalArgumentException(
                            "a\0b\nc" + "x".repeat(294) + new String(Character.toChars(0x1F4A3)));
                });

        assertThat(told)
                .extracting(Unreadable::why)
                .containsExactly("a b c" + "x".repeat(294) + " …");
    }

    @Test
    void anApiServerThatDoesNotAnswerIsNoObjectsFault() {
        assertThatThrownBy(() ->
                        objects.handOver(
                                pod("one"),
                                _ -> {
                                    throw new KubernetesClientException("away");
                                }))
                .hasMessage("away");
        assertThat(told).isEmpty();
    }

    @Test
    void thousandsOfThemFillNeitherMemoryNorLogAndHideNobodyElses() {
        for (int n = 0; n < 3_000; n++) {
            objects.read(pod("pod-" + n), UnreadableObjectsTest::fail);
        }
        assertThat(objects.present()).hasSize(100);

        for (int n = 0; n < 3_000; n++) {
            Pod ofMany = pod("pod");
            ofMany.getMetadata().setNamespace("lab-" + n);
            objects.read(ofMany, UnreadableObjectsTest::fail);
        }
        assertThat(objects.present()).hasSize(1_000);
        assertThat(told).hasSize(1_000);
    }
}
