package io.gpusharing.timekeeper.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.gpusharing.kubernetes.Unreadable;
import io.gpusharing.kubernetes.UnreadableObjects;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class UnreadPodsTest {

    private static final UUID ONE = UUID.fromString("7b1f0d0c-4f83-4a0e-9d3b-1f0a4f6b1c2d");
    private static final UUID TWO = UUID.fromString("0c5c2a52-6d0b-4b0a-9b7e-0a6f4b4b2f10");

    private final UnreadableObjects objects = new UnreadableObjects(object -> {});
    private final UnreadPods pods = new UnreadPods(objects);

    private static Pod pod(UUID uid) {
        return new PodBuilder()
                .withNewMetadata()
                .withNamespace("team-a")
                .withName("pod-" + uid)
                .withUid(uid.toString())
                .endMetadata()
                .build();
    }

    private static String fail(Pod pod) {
        throw new IllegalArgumentException("a pod like no other");
    }

    @Test
    void whatAListDoesNotShowHasGone() {
        pods.read(pod(ONE), UnreadPodsTest::fail);
        pods.listing();
        pods.read(pod(TWO), UnreadPodsTest::fail);

        assertThat(pods.listed()).containsExactly(TWO);
        assertThat(objects.present()).extracting(Unreadable::uid).containsExactly(TWO.toString());
    }

    @Test
    void aListThatIsNeverCompleteForgetsNobody() {
        pods.read(pod(ONE), UnreadPodsTest::fail);
        pods.listing();
        pods.read(pod(TWO), UnreadPodsTest::fail);

        assertThat(objects.present()).hasSize(2);
        pods.listing();
        pods.read(pod(ONE), UnreadPodsTest::fail);
        assertThat(pods.listed()).containsExactly(ONE);
    }

    @Test
    void aPodWithoutAUuidIsUnreadableAndNoneThatWasReadBefore() {
        pods.listing();
        pods.read(
                new PodBuilder(pod(ONE)).editMetadata().withUid("one").endMetadata().build(),
                UnreadPodsTest::fail);

        assertThat(pods.listed()).isEmpty();
        assertThat(objects.present()).extracting(Unreadable::uid).containsExactly("one");
    }

    @Test
    void aPodThatIsReadWhileItsReaderEndsIsLeftToTheNext() {
        pods.read(
                pod(ONE),
                it -> {
                    pods.close();
                    return fail(it);
                });

        assertThat(objects.present()).isEmpty();
    }
}
