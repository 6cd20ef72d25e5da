package io.gpusharing.scheduler.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.kubernetes.PodSharing;
import io.gpusharing.sharing.ProviderAsk;
import io.gpusharing.sharing.Sharing;
import io.gpusharing.sharing.Sharing.Across;
import io.gpusharing.sharing.Strategy;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Of a pod as it is read from the API server and from kube-scheduler's questions. */
class GpuPodReaderTest {

    private static final String BUDGET = "\"gpusharing.io/budget\": \"team-a\"";

    private static Pod pod(String annotations, String spec, String container) {
        return LeanObjects.serialization()
                .unmarshal(
                        """
                        {"metadata": {"uid": "u", "namespace": "dev", "name": "p", "annotations": {%s}},
                         "spec": {%s "containers": [
                           {"name": "cuda", %s
                            "resources": {"limits": {"tencent.com/vcuda-core": "30", "tencent.com/vcuda-memory": "4"}}},
                           {"name": "web", "volumeMounts": [{"name": "v", "mountPath": "/dev/shm"}]}]}}
                        """
                                .formatted(annotations, spec, container),
                        Pod.class);
    }

    private static Sharing sharing(@Nullable Across across, Pod pod) {
        return new GpuPodReader(new ProviderAsk(Map.of()), Strategy.BestFit, new PodSharing(across))
                .waiting(pod)
                .asks()
                .getFirst()
                .ask()
                .sharing();
    }

    @Test
    void aPodSharesGpusWithItsBudgetItsNamespaceOrAllAsTheSiteWantsIt() {
        Pod pod = pod(BUDGET, "", "");

        assertThat(sharing(Across.Budget, pod)).isEqualTo(Sharing.cooperative("budget/team-a"));
        assertThat(sharing(Across.Namespace, pod)).isEqualTo(Sharing.cooperative("namespace/dev"));
        assertThat(sharing(Across.Cluster, pod)).isEqualTo(Sharing.cooperative("cluster"));
        assertThat(sharing(null, pod)).isEqualTo(Sharing.TIME_SLICES);
    }

    @Test
    void aPodThatCannotBeAClientTakesTurns() {
        String sharedMemory =
                "\"volumeMounts\": [{\"name\": \"x\", \"mountPath\": \"/x\"}, {\"readOnly\": true, \"mountPath\": \"/dev/shm/\"}],";

        assertThat(sharing(Across.Budget, pod(BUDGET, "\"hostIPC\": true,", "")))
                .isEqualTo(Sharing.TIME_SLICES);
        assertThat(sharing(Across.Budget, pod(BUDGET, "", sharedMemory)))
                .isEqualTo(Sharing.TIME_SLICES);
    }

    @Test
    void aPodThatWantsItTakesTurns() {
        assertThat(
                        sharing(
                                Across.Budget,
                                pod("\"request.gpusharing.io/mps\": \"disabled\"", "", "")))
                .isEqualTo(Sharing.TIME_SLICES);
    }

    @Test
    void ofMountsThoseAtTheSharedMemoryAloneAreRead() {
        Pod pod =
                pod("", "", "\"volumeMounts\": [{\"name\": \"data\", \"mountPath\": \"/data\"}],");

        assertThat(pod.getSpec().getContainers().getFirst().getVolumeMounts()).isEmpty();
        assertThat(pod.getSpec().getContainers().getLast().getVolumeMounts())
                .singleElement()
                .extracting("name", "mountPath")
                .containsExactly(null, "/dev/shm");
    }

    /** Finding: filter took a pod whose binding is always refused, and others went for it. */
    @Test
    void aPodWhosePlacementIsTooLongToBeWrittenIsPlacedNowhere() {
        var reader =
                new GpuPodReader(new ProviderAsk(Map.of()), Strategy.BestFit, new PodSharing(null));

        assertThat(unplaceable(reader, podOf(77))).isEmpty();
        assertThat(unplaceable(reader, podOf(78)))
                .hasValueSatisfying(why -> assertThat(why).contains("78 containers with GPUs"));
    }

    private static Optional<String> unplaceable(GpuPodReader reader, Pod pod) {
        return GpuPodReader.unplaceable(pod, reader.waiting(pod).asks());
    }

    /** Of so many containers with the longest names, each with a hundredth of a GPU. */
    private static Pod podOf(int containers) {
        String all =
                IntStream.range(0, containers)
                        .mapToObj(
                                """
                                {"name": "%063d", "resources": {"limits": {"tencent.com/vcuda-core": "1", "tencent.com/vcuda-memory": "1"}}}
                                """
                                        ::formatted)
                        .collect(Collectors.joining(","));
        return LeanObjects.serialization()
                .unmarshal(
                        """
                        {"metadata": {"uid": "0c5c2a52-6d0b-4b0a-9b7e-0a6f4b4b2f10", "namespace": "dev", "name": "p"},
                         "spec": {"containers": [%s]}}
                        """
                                .formatted(all),
                        Pod.class);
    }
}
