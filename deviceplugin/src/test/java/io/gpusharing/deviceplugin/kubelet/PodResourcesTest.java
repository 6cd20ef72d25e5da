package io.gpusharing.deviceplugin.kubelet;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.deviceplugin.kubelet.PodResources.Holder;
import io.gpusharing.deviceplugin.kubelet.podresources.ContainerDevices;
import io.gpusharing.deviceplugin.kubelet.podresources.ContainerResources;
import io.gpusharing.deviceplugin.kubelet.podresources.ListPodResourcesRequest;
import io.gpusharing.deviceplugin.kubelet.podresources.ListPodResourcesResponse;
import io.gpusharing.deviceplugin.kubelet.podresources.PodResourcesListerGrpc.PodResourcesListerImplBase;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PodResourcesTest {

    @TempDir private Path folder;

    private final UnixSockets sockets = new UnixSockets();
    private final AtomicInteger refusals = new AtomicInteger();
    private PodResources resources;

    @BeforeEach
    void start() throws IOException {
        sockets.serve(folder.resolve("kubelet.sock"), new Kubelet());
        resources = new PodResources(sockets, folder.resolve("kubelet.sock"));
    }

    @AfterEach
    void end() {
        resources.close();
        sockets.close();
    }

    @Test
    void theFirstQuestionIsAnsweredAndTheNextAsWell() throws IOException {
        var holder =
                new Holder("team", "train", "cuda", "example.com/half", Set.of("g0-0", "g0-1"));

        assertThat(resources.list()).containsExactly(holder);
        assertThat(resources.list()).containsExactly(holder);
    }

    @Test
    void aKubeletThatIsAskedTooOftenIsAskedAgain() throws IOException {
        refusals.set(2);

        assertThat(resources.list()).hasSize(1);
    }

    /** One container with two units, an entry for each. */
    private final class Kubelet extends PodResourcesListerImplBase {

        @Override
        public void list(
                ListPodResourcesRequest request, StreamObserver<ListPodResourcesResponse> answer) {
            if (refusals.getAndDecrement() > 0) {
                answer.onError(Status.RESOURCE_EXHAUSTED.asRuntimeException());
                return;
            }
            var container = ContainerResources.newBuilder().setName("cuda");
            for (String id : new String[] {"g0-1", "g0-0"}) {
                container.addDevices(
                        ContainerDevices.newBuilder()
                                .setResourceName("example.com/half")
                                .addDeviceIds(id));
            }
            answer.onNext(
                    ListPodResourcesResponse.newBuilder()
                            .addPodResources(
                                    io.gpusharing.deviceplugin.kubelet.podresources.PodResources
                                            .newBuilder()
                                            .setNamespace("team")
                                            .setName("train")
                                            .addContainers(container))
                            .build());
            answer.onCompleted();
        }
    }
}
