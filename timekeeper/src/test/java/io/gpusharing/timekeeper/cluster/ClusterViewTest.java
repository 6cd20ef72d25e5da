package io.gpusharing.timekeeper.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.kubernetes.PodFacts;
import io.gpusharing.timekeeper.testing.Pods;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ClusterViewTest {

    private final ClusterView view = new ClusterView();

    @Test
    void aPodThatAListCannotReadStaysWhatItWasUntilItHasGone() {
        PodFacts one = Pods.waiting("team-a", 50, 15).facts();
        PodFacts other = Pods.waiting("team-a", 50, 15).facts();
        view.replacePods(List.of(one, other), Set.of());

        view.replacePods(List.of(other), Set.of(one.uid()));
        assertThat(view.pods()).containsExactlyInAnyOrder(one, other);

        view.replacePods(List.of(other), Set.of());
        assertThat(view.pods()).containsExactly(other);
    }
}
