package io.gpusharing.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class UnreadableObjectsTest {

    private final List<Unreadable> told = new ArrayList<>();
    private final UnreadableObjects objects = new UnreadableObjects(told::add);

    private static Pod pod(String name) {
        return new PodBuilder()
                .withNewMetadata()
                .withNamespace("lab")
                .withName(name)
                .withUid("uid-of-" + name)
                .endMetadata()
                .build();
    }

    private static String fail(Pod pod) {
        throw new IllegalArgumentException("x".repeat(1_000_000));
    }

    @Test
    void anObjectThatCannotBeReadIsToldOnceAndInShort() {
        assertThat(objects.read(pod("one"), UnreadableObjectsTest::fail)).isEmpty();
        assertThat(objects.read(pod("one"), UnreadableObjectsTest::fail)).isEmpty();

        assertThat(told)
                .singleElement()
                .isEqualTo(
                        new Unreadable("Pod", "lab", "one", "uid-of-one", "x".repeat(300) + "…"));
        assertThat(objects.present()).isEqualTo(told);
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
    void thousandsOfThemFillNeitherMemoryNorLog() {
        for (int n = 0; n < 3_000; n++) {
            objects.read(pod("pod-" + n), UnreadableObjectsTest::fail);
        }

        assertThat(objects.present()).hasSize(1_000);
        assertThat(told).hasSize(1_000);
    }
}
