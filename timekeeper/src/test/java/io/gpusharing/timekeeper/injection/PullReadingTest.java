package io.gpusharing.timekeeper.injection;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.gpusharing.timekeeper.injection.Pull.Done;
import io.gpusharing.timekeeper.injection.Pull.Failing;
import java.time.Instant;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PullReadingTest {

    private static final Instant CREATED = Instant.parse("2026-03-10T12:00:00Z");

    @ParameterizedTest
    @ValueSource(strings = {"ErrImagePull", "ImagePullBackOff", "InvalidImageName"})
    void aContainerThatWaitsForItsImageFails(String reason) {
        assertThat(PullReading.of(pod("{waiting: {reason: %s}}".formatted(reason))))
                .contains(new Failing(new UUID(0, 7), CREATED, "gpusharing/sidecar:1"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"PodInitializing", "CreateContainerConfigError", "CrashLoopBackOff"})
    void aContainerThatWaitsForAnythingElseSaysNothing(String reason) {
        assertThat(PullReading.of(pod("{waiting: {reason: %s}}".formatted(reason)))).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{running: {startedAt: '2026-03-10T12:00:05Z'}}",
                "{terminated: {exitCode: 1, startedAt: '2026-03-10T12:00:05Z'}}",
                "{waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 1, startedAt: '2026-03-10T12:00:05Z'}}"
            })
    void aContainerThatRanHasItsImage(String state) {
        assertThat(PullReading.of(pod(state)))
                .contains(new Done("gpusharing/sidecar:1", CREATED.plusSeconds(5)));
    }

    @Test
    void aContainerOfTheUsersIsNotOurs() {
        Pod pod = pod("{waiting: {reason: ErrImagePull}}");
        pod.getMetadata().getAnnotations().put("gpusharing.io/sidecar", "gpusharing-sidecar-2");

        assertThat(PullReading.of(pod)).isEmpty();
    }

    @Test
    void aPodWithoutStatusOrSidecarSaysNothing() {
        Pod young = pod("{}");
        young.setStatus(null);
        Pod bare = pod("{waiting: {reason: ErrImagePull}}");
        bare.getMetadata().setAnnotations(null);

        assertThat(PullReading.of(young)).isEmpty();
        assertThat(PullReading.of(bare)).isEmpty();
    }

    private static Pod pod(String state) {
        return Serialization.unmarshal(
                """
                apiVersion: v1
                kind: Pod
                metadata:
                  name: p
                  uid: 00000000-0000-0000-0000-000000000007
                  creationTimestamp: '2026-03-10T12:00:00Z'
                  annotations: {gpusharing.io/sidecar: gpusharing-sidecar}
                spec:
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
