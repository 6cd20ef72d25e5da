package io.gpusharing.scheduler.pods;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class GangsTest {

    private static final String TRAINING = "training.kubeflow.org/job-name";
    private static final String RAY = "ray.io/cluster";
    private static final String INDEX = "batch.kubernetes.io/job-completion-index";

    private final Gangs gangs =
            new Gangs(List.of(RAY, TRAINING), Set.of("Job", "PyTorchJob", "RayCluster"));

    private static Pod pod(String name, String owner, Map<String, String> labels) {
        return new PodBuilder()
                .withNewMetadata()
                .withNamespace("team-a")
                .withName(name)
                .withUid("uid-of-" + name)
                .withLabels(labels)
                .addNewOwnerReference()
                .withKind(owner)
                .withName("mnist")
                .withUid("o-1")
                .withController(true)
                .endOwnerReference()
                .endMetadata()
                .build();
    }

    /** A StatefulSet of a LeaderWorkerSet has other pods than the next one. */
    @ParameterizedTest
    @ValueSource(strings = {RAY, TRAINING})
    void podsWithTheSameValueOfALabelGoTogetherWhoeverOwnsThem(String label) {
        Pod one = pod("one", "StatefulSet", Map.of(label, "mnist"));
        Pod other = pod("other", "Job", Map.of(label, "mnist"));

        assertThat(gangs.of(one)).isEqualTo(gangs.of(other));
        assertThat(gangs.of(pod("else", "StatefulSet", Map.of(label, "cifar"))))
                .isNotEqualTo(gangs.of(one));
    }

    @ParameterizedTest
    @CsvSource({"Job, true", "PyTorchJob, true", "RayCluster, true", "ReplicaSet, false"})
    void podsThatOneControllerOfAKnownKindOwnsGoTogether(String kind, boolean together) {
        assertThat(
                        gangs.of(pod("one", kind, Map.of()))
                                .equals(gangs.of(pod("other", kind, Map.of()))))
                .isEqualTo(together);
    }

    @Test
    void theFirstLabelOfTheListCountsAndAnEmptyOneDoesNot() {
        assertThat(gangs.of(pod("a", "PyTorchJob", Map.of(TRAINING, "t", RAY, "r"))))
                .isEqualTo("team-a/ray.io/cluster=r");
        assertThat(gangs.of(pod("a", "PyTorchJob", Map.of(TRAINING, "t", RAY, ""))))
                .isEqualTo("team-a/training.kubeflow.org/job-name=t");
    }

    @Test
    void equalValuesOfDifferentLabelsNameDifferentGangs() {
        assertThat(gangs.of(pod("a", "Pod", Map.of(TRAINING, "mnist"))))
                .isNotEqualTo(gangs.of(pod("b", "Pod", Map.of(RAY, "mnist"))));
    }

    @Test
    void aPodWhoseOwnerHasNoKindGoesAlone() {
        Pod pod = pod("a", "Job", Map.of());
        pod.getMetadata().getOwnerReferences().getFirst().setKind(null);

        assertThat(gangs.of(pod)).isEqualTo("uid-of-a");
        assertThat(gangs.startsTogether(pod)).isFalse();
    }

    @Test
    void thePodsOfAJobMayWorkOneAfterAnotherUnlessTheyAreNumbered() {
        assertThat(gangs.startsTogether(pod("a", "Job", Map.of()))).isFalse();
        assertThat(gangs.startsTogether(pod("a", "Job", Map.of(INDEX, "0")))).isTrue();
        assertThat(gangs.startsTogether(pod("a", "Job", Map.of(TRAINING, "t")))).isTrue();
        assertThat(gangs.startsTogether(pod("a", "PyTorchJob", Map.of()))).isTrue();
        assertThat(gangs.startsTogether(pod("a", "ReplicaSet", Map.of(INDEX, "0")))).isFalse();
    }
}
