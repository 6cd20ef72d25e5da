import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.gpusharing.deviceplugin.kubelet.UnixSockets;
import io.gpusharing.deviceplugin.kubelet.api.AllocateRequest;
import io.gpusharing.deviceplugin.kubelet.api.ContainerAllocateRequest;
import io.gpusharing.deviceplugin.kubelet.api.DevicePluginGrpc;
import io.gpusharing.deviceplugin.kubelet.api.Empty;
import io.gpusharing.deviceplugin.kubelet.api.PreStartContainerRequest;
import io.gpusharing.deviceplugin.kubelet.api.RegisterRequest;
import io.gpusharing.deviceplugin.kubelet.api.RegistrationGrpc;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.concurrent.Executors;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/**
 * A kubelet and an API server for the training run of the AOT cache, so that it goes through TLS,
 * gRPC and JSON as the real one does. Started from source, and no part of the image.
 *
 * <p>Arguments: a PKCS#12 key store, its password, the kubelet's folder, a file to write the port
 * to; one beside it, named {@code .done}, when the plugin has answered.
 */
class TrainingNode {

    private static final String POD =
            """
            {"metadata": {"name": "training", "namespace": "training", "uid": "00000000-0000-0000-0000-000000000001", "resourceVersion": "1"},
             "spec": {"containers": [{"name": "cuda", "resources": {"limits": {"tencent.com/vcuda-core": "50"}}}]},
             "status": {"phase": "Running"}}
            """;

    public static void main(String[] args) throws Exception {
        KeyStore store = KeyStore.getInstance(Path.of(args[0]).toFile(), args[1].toCharArray());
        KeyManagerFactory keys =
                KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(store, args[1].toCharArray());
        SSLContext tls = SSLContext.getInstance("TLS");
        tls.init(keys.getKeyManagers(), null, null);
        HttpsServer api =
                HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        api.setHttpsConfigurator(new HttpsConfigurator(tls));
        api.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        api.createContext("/api/v1/pods", TrainingNode::pods);
        api.createContext(
                "/",
                exchange ->
                        answer(
                                exchange,
                                "{\"metadata\": {\"name\": \"training\", \"uid\": \"1\"}, \"status\": {\"nodeInfo\": {\"containerRuntimeVersion\": \"containerd://2\"}}}"));
        api.start();

        Path plugins = Path.of(args[2], "device-plugins");
        Path done = Path.of(args[3] + ".done");
        var sockets = new UnixSockets();
        sockets.serve(plugins.resolve("kubelet.sock"), new Kubelet(sockets, plugins, done));
        Files.writeString(Path.of(args[3]), Integer.toString(api.getAddress().getPort()));
    }

    private static void pods(HttpExchange exchange) throws IOException {
        if (exchange.getRequestURI().getQuery().contains("watch=")) {
            exchange.sendResponseHeaders(200, 0);
            exchange.getResponseBody()
                    .write(("{\"type\": \"MODIFIED\", \"object\": " + POD + "}").getBytes(UTF_8));
            exchange.getResponseBody().flush();
        } else {
            answer(
                    exchange,
                    "{\"metadata\": {\"resourceVersion\": \"1\"}, \"items\": [" + POD + "]}");
        }
    }

    private static void answer(HttpExchange exchange, String text) throws IOException {
        try (exchange) {
            byte[] body = text.getBytes(UTF_8);
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
        }
    }

    /** Calls whatever registers once, by all that a kubelet calls. */
    private static final class Kubelet extends RegistrationGrpc.RegistrationImplBase {

        private final UnixSockets sockets;
        private final Path plugins;
        private final Path done;

        private Kubelet(UnixSockets sockets, Path plugins, Path done) {
            this.sockets = sockets;
            this.plugins = plugins;
            this.done = done;
        }

        @Override
        public void register(RegisterRequest request, StreamObserver<Empty> answer) {
            answer.onNext(Empty.getDefaultInstance());
            answer.onCompleted();
            Thread.ofVirtual().start(() -> call(request));
        }

        private void call(RegisterRequest request) {
            var plugin =
                    DevicePluginGrpc.newBlockingStub(
                            sockets.connect(plugins.resolve(request.getEndpoint())));
            plugin.listAndWatch(Empty.getDefaultInstance()).next();
            plugin.allocate(
                    AllocateRequest.newBuilder()
                            .addContainerRequests(
                                    ContainerAllocateRequest.newBuilder().addDevicesIds("g0-0"))
                            .build());
            try {
                plugin.preStartContainer(
                        PreStartContainerRequest.newBuilder().addDevicesIds("g0-0").build());
            } catch (StatusRuntimeException e) {
                // Refused: nobody holds these units.
            }
            // The resource that decides is registered last.
            if (request.getOptions().getPreStartRequired()) {
                try {
                    Files.writeString(done, "");
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
            }
        }
    }
}
