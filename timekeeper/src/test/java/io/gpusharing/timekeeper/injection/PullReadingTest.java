package io.gpusharing.timekeeper.injection;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.gpusharing.timekeeper.injection.Pull.Done;
import io.gpusharing.timekeeper.injection.Pull.Failing;
import io.gpusharing.timekeeper.injection.Pull.Place;
import java.time.Instant;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PullReadingTest {

    private static final Map<String, String> ARM =
            Map.of("kubernetes.io/os", "linux", "kubernetes.io/arch", "arm64");
    private static final Place HERE = new Place("team-a", "linux/arm64");
    private static final Instant CREATED = Instant.parse("2026-03-10T12:00:00Z");

    @ParameterizedTest
    @ValueSource(strings = {"ErrImagePull", "ImagePullBackOff", "InvalidImageName"})
    void aContainerThatWaitsForItsImageFails(String reason) {
        assertThat(PullReading.of(pod("{waiting: {reason: %s}}".formatted(reason)), ARM))
                .contains(
                        new Failing(
                                new UUID(0, 7),
                                CREATED,
                                "gpusharing/sidecar:1",
                                HERE,
                                "a",
                                "gpu-1"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"PodInitializing", "CreateContainerConfigError", "CrashLoopBackOff"})
    void aContainerThatWaitsForAnythingElseSaysNothing(String reason) {
        assertThat(PullReading.of(pod("{waiting: {reason: %s}}".formatted(reason)), ARM)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{running: {startedAt: '2026-03-10T12:00:05Z'}}",
                "{terminated: {exitCode: 1, startedAt: '2026-03-10T12:00:05Z'}}",
                "{waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 1, startedAt: '2026-03-10T12:00:05Z'}}"
            })
    void aContainerThatRanHasItsImage(String state) {
        assertThat(PullReading.of(pod(state), ARM))
                .contains(new Done("gpusharing/sidecar:1", HERE, CREATED.plusSeconds(5)));
    }

    @Test
    void aContainerOfTheUsersIsNotOurs() {
        Pod pod = pod("{waiting: {reason: ErrImagePull}}");
        pod.getMetadata().getAnnotations().put("gpusharing.io/sidecar", "gpusharing-sidecar-2");

        assertThat(PullReading.of(pod, ARM)).isEmpty();
    }

    @Test
    void aPodWithoutStatusOrSidecarSaysNothing() {
        Pod young = pod("{}");
        young.setStatus(null);
        Pod bare = pod("{waiting: {reason: ErrImagePull}}");
        bare.getMetadata().setAnnotations(null);

        assertThat(PullReading.of(young, ARM)).isEmpty();
        assertThat(PullReading.of(bare, ARM)).isEmpty();
    }

    /** No registry has an image of ours for it. */
    @Test
    void aNodeThatRunsWindowsSaysNothing() {
        Pod pod = pod("{waiting: {reason: ErrImagePull}}");

        assertThat(PullReading.of(pod, Map.of("kubernetes.io/os", "windows"))).isEmpty();
        assertThat(PullReading.of(pod, Map.of())).isPresent();
    }

    private static Pod pod(String state) {
        return Serialization.unmarshal(
                """
                apiVersion: v1
                kind: Pod
                metadata:
                  name: p
                  namespace: team-a
                  uid: 00000000-0000-0000-0000-000000000007
                  creationTimestamp: '2026-03-10T12:00:00Z'
                  annotations: {gpusharing.io/sidecar: gpusharing-sidecar, gpusharing.io/budget: a}
                spec:
                  nodeName: gpu-1
                  initContainers: [{name: gpusharing-sidecar, image: 'gpusharing/sidecar:1'}]
                  containers: [{name: cuda, image: 'example/cuda:1'}]
                status:
                  initContainerStatuses:
                  - {name: gpusharing-sidecar, state: %s}
                  containerStatuses:
                  - {name: cuda, state: {waiting: {reason: ErrImagePull}}}
                """
                        .formatted(state),
                Pod.class);
    }
}
