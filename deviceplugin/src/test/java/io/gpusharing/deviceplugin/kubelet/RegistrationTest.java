package io.gpusharing.deviceplugin.kubelet;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.groups.Tuple.tuple;

import io.gpusharing.deviceplugin.kubelet.api.AllocateRequest;
import io.gpusharing.deviceplugin.kubelet.api.ContainerAllocateRequest;
import io.gpusharing.deviceplugin.kubelet.api.DevicePluginGrpc;
import io.gpusharing.deviceplugin.kubelet.api.Empty;
import io.gpusharing.deviceplugin.kubelet.api.PreStartContainerRequest;
import io.gpusharing.deviceplugin.kubelet.api.RegisterRequest;
import io.gpusharing.deviceplugin.kubelet.api.RegistrationGrpc.RegistrationImplBase;
import io.grpc.Server;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RegistrationTest {

    @TempDir private Path folder;

    private final UnixSockets sockets = new UnixSockets();
    private final FakeKubelet kubelet = new FakeKubelet();
    private Registration registration;
    private volatile @Nullable String refusal;

    @BeforeEach
    void start() throws IOException {
        registration =
                new Registration(
                        folder, sockets, List.of(new Halves()), () -> Optional.ofNullable(refusal));
        registration.start();
    }

    @AfterEach
    void end() {
        registration.close();
        sockets.close();
    }

    @Test
    void registersWithAKubeletThatComesLater() throws Exception {
        kubelet.start();

        RegisterRequest request = kubelet.registered();

        assertThat(request.getResourceName()).isEqualTo("example.com/half");
        assertThat(request.getOptions().getPreStartRequired()).isTrue();
        assertThat(folder.resolve(request.getEndpoint())).exists();
    }

    @Test
    void registersAgainWithTheNextKubeletAndServesAtANewSocket() throws Exception {
        kubelet.start();
        Path socket = folder.resolve(kubelet.registered().getEndpoint());

        kubelet.stop();
        // As a kubelet does when it starts.
        Files.deleteIfExists(socket);
        kubelet.start();

        kubelet.registered();
        assertThat(socket).exists();
    }

    @Test
    void offersNothingWhileSomebodyElseDoesAndRegistersWhenTheyAreGone() throws Exception {
        refusal = "another device plugin offers it";
        kubelet.start();

        assertThat(kubelet.requests.poll(1500, TimeUnit.MILLISECONDS)).isNull();
        assertThat(registration.refused()).contains("another device plugin offers it");

        refusal = null;
        kubelet.registered();
        assertThat(registration.refused()).isEmpty();
    }

    @Test
    void withdrawsWhenSomebodyElseOffersItToo() throws Exception {
        kubelet.start();
        Path socket = folder.resolve(kubelet.registered().getEndpoint());

        refusal = "another device plugin offers it";
        // Its socket, or the kubelet's checkpoint.
        Files.createFile(folder.resolve("another.sock"));

        for (int i = 0; i < 1000 && Files.exists(socket); i++) {
            TimeUnit.MILLISECONDS.sleep(10);
        }
        assertThat(socket).doesNotExist();
        assertThat(registration.isRegistered()).isFalse();
        assertThat(registration.refused()).contains("another device plugin offers it");

        refusal = null;
        kubelet.registered();
        assertThat(socket).exists();
    }

    @Test
    void answersAsTheResourceDoes() throws Exception {
        kubelet.start();
        Path socket = folder.resolve(kubelet.registered().getEndpoint());
        var channel = sockets.connect(socket);
        var plugin = DevicePluginGrpc.newBlockingStub(channel);

        assertThat(plugin.listAndWatch(Empty.getDefaultInstance()).next().getDevicesList())
                .extracting("ID", "health")
                .containsExactly(tuple("g0-0", "Healthy"), tuple("g0-1", "Unhealthy"));
        assertThat(plugin.listAndWatch(Empty.getDefaultInstance()).next().getDevicesList())
                .extracting(unit ->
                        unit.getTopology().getNodesList().stream().map(it -> it.getID()).toList())
                .containsExactly(List.of(1L), List.of());
        assertThat(
                        plugin.allocate(
                                        AllocateRequest.newBuilder()
                                                .addContainerRequests(
                                                        ContainerAllocateRequest.newBuilder()
                                                                .addDevicesIds("g0-0"))
                                                .build())
                                .getContainerResponses(0)
                                .getCdiDevices(0)
                                .getName())
                .isEqualTo("example.com/gpu=g0-0");
        assertThatThrownBy(() ->
                        plugin.preStartContainer(
                                PreStartContainerRequest.newBuilder()
                                        .addDevicesIds("g0-1")
                                        .build()))
                .isInstanceOf(StatusRuntimeException.class)
                .hasMessageContaining("not now");
        channel.shutdownNow();
    }

    /** Two units, of which one is broken; what holds the broken one does not start. */
    private static final class Halves implements DeviceResource {

        @Override
        public String name() {
            return "example.com/half";
        }

        @Override
        public List<Device> devices() {
            return List.of(new Device("g0-0", true, 1), new Device("g0-1", false, null));
        }

        @Override
        public List<String> preferred(List<String> available, List<String> needed, int size) {
            return available.subList(0, size);
        }

        @Override
        public List<String> allocate(List<String> ids) {
            return List.of("example.com/gpu=" + ids.getFirst());
        }

        @Override
        public boolean decides() {
            return true;
        }

        @Override
        public void prepare(Set<String> ids) throws StartRefused {
            if (ids.contains("g0-1")) {
                throw new StartRefused("not now");
            }
        }
    }

    /** The half of a kubelet that takes registrations. */
    private final class FakeKubelet extends RegistrationImplBase {

        private final BlockingQueue<RegisterRequest> requests = new LinkedBlockingQueue<>();
        private @Nullable Server server;

        void start() throws IOException {
            server = sockets.serve(folder.resolve("kubelet.sock"), this);
        }

        void stop() throws IOException {
            requireNonNull(server).shutdownNow();
            Files.deleteIfExists(folder.resolve("kubelet.sock"));
        }

        RegisterRequest registered() throws InterruptedException {
            RegisterRequest request = requests.poll(10, TimeUnit.SECONDS);
            assertThat(request).isNotNull();
            return request;
        }

        @Override
        public void register(RegisterRequest request, StreamObserver<Empty> answer) {
            requests.add(request);
            answer.onNext(Empty.getDefaultInstance());
            answer.onCompleted();
        }
    }
}
