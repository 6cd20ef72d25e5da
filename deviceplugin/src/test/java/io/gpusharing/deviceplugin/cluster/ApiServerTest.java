package io.gpusharing.deviceplugin.cluster;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import java.util.concurrent.Executors;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ApiServerTest {

    private static final String NODE = "/api/v1/nodes/gpu-1";

    @TempDir private Path folder;

    private FakeApiServer cluster;
    private ApiServer api;

    @BeforeEach
    void start() throws IOException {
        cluster = new FakeApiServer(folder);
        api = cluster.client();
    }

    @AfterEach
    void end() {
        api.close();
        cluster.close();
    }

    @Test
    void readsCreatesAndPatchesObjects() throws Exception {
        api.post("/api/v1/nodes", json("{\"metadata\":{\"name\":\"gpu-1\",\"uid\":\"u\"}}"));
        api.mergePatch(NODE, json("{\"metadata\":{\"labels\":{\"a\":\"b\"}}}"));

        assertThat(NodeView.read(api, "gpu-1"))
                .isEqualTo(new NodeView("u", Map.of("a", "b"), Map.of(), ""));
    }

    @Test
    void readsOfANodeWhatItOffersOfExtendedResourcesAndItsRuntime() throws Exception {
        cluster.putObject(
                NODE,
                """
                {"metadata":{"uid":"u"},"status":{"capacity":{"nvidia.com/gpu":"9"},
                 "nodeInfo":{"osImage":"x","containerRuntimeVersion":"containerd://2.1.4"},
                 "allocatable":{"cpu":"2","nvidia.com/gpu":"8"},"images":[{"names":["x"]}]}}\
                """);

        NodeView node = NodeView.read(api, "gpu-1");
        assertThat(node.allocatable()).isEqualTo(Map.of("nvidia.com/gpu", "8"));
        assertThat(node.containerRuntime()).isEqualTo("containerd://2.1.4");
    }

    @Test
    void aRefusalSaysWhatWasAskedAndWhatTheApiServerSays() {
        assertThatThrownBy(() -> api.get(NODE, JsonParser::parseReader))
                .isInstanceOfSatisfying(
                        ApiException.class, e -> assertThat(e.status()).isEqualTo(404))
                .hasMessage(
                        "The API server answered 404 for GET %s: %s not found"
                                .formatted(NODE, NODE));
    }

    @Test
    void aRefusalThatIsNoStatusIsShownAsItCame() {
        cluster.answerAll(502, "<html>" + "x".repeat(5_000));

        assertThatThrownBy(() -> api.post("/api/v1/nodes", new JsonObject()))
                .isInstanceOf(ApiException.class)
                .hasMessageContaining("502 for POST /api/v1/nodes: <html>xx")
                .satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(300));
    }

    @Test
    void aStreamThatIsRefusedIsRefusedTheSameWay() {
        cluster.answerAll(403, FakeApiServer.status(403, "pods is forbidden"));

        assertThatThrownBy(() -> api.open("/api/v1/pods").close())
                .isInstanceOf(ApiException.class)
                .hasMessageEndingWith("pods is forbidden");
    }

    @Test
    void readsTheTokenForEachCall() throws Exception {
        cluster.putObject(NODE, "{\"metadata\":{\"uid\":\"u\"}}");
        assertThat(NodeView.read(api, "gpu-1").uid()).isEqualTo("u");

        cluster.takeToken("second");
        assertThatThrownBy(() -> NodeView.read(api, "gpu-1"))
                .isInstanceOfSatisfying(
                        ApiException.class, e -> assertThat(e.status()).isEqualTo(401));

        Files.writeString(folder.resolve("token"), "second\n");
        assertThat(NodeView.read(api, "gpu-1").uid()).isEqualTo("u");
    }

    @Test
    void aMissingTokenIsNamed() throws Exception {
        Files.delete(folder.resolve("token"));

        assertThatThrownBy(() -> NodeView.read(api, "gpu-1"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(folder.resolve("token").toString());
    }

    @Test
    void anAnswerThatIsNotJsonIsAnError() {
        cluster.answerAll(200, "[1, {]");

        assertThatThrownBy(() -> api.get(NODE, JsonParser::parseReader))
                .isInstanceOf(IOException.class);
    }

    @Test
    void whereNobodyListensIsNamed() throws Exception {
        int port;
        try (ServerSocket nobody = new ServerSocket(0)) {
            port = nobody.getLocalPort();
        }
        try (var nowhere = client("http://127.0.0.1:" + port, Duration.ofSeconds(30))) {
            assertThatThrownBy(() -> nowhere.open(NODE).close())
                    .isInstanceOf(IOException.class)
                    .isNotInstanceOf(ApiException.class)
                    .hasMessageContaining("127.0.0.1:" + port)
                    .hasMessageContaining("ConnectException");
        }
    }

    @Test
    void anAnswerThatDoesNotComeEndsTheCall() throws Exception {
        // Connects, since the kernel does that, and is never accepted.
        try (ServerSocket mute = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
                var slow =
                        client("http://127.0.0.1:" + mute.getLocalPort(), Duration.ofMillis(50))) {
            assertThatThrownBy(() -> NodeView.read(slow, "gpu-1"))
                    .isInstanceOf(HttpTimeoutException.class)
                    .hasMessageContaining(NODE);
        }
    }

    @Test
    void findsTheApiServerOfItsCluster() {
        assertThat(
                        ApiServer.address(
                                Map.of(
                                        "KUBERNETES_SERVICE_HOST", "10.96.0.1",
                                        "KUBERNETES_SERVICE_PORT", "443")))
                .isEqualTo(URI.create("https://10.96.0.1:443"));
        assertThat(
                        ApiServer.address(
                                Map.of(
                                        "KUBERNETES_SERVICE_HOST", "fd00::1",
                                        "KUBERNETES_SERVICE_PORT", "6443")))
                .isEqualTo(URI.create("https://[fd00::1]:6443"));
        assertThatThrownBy(() -> ApiServer.inCluster(Map.of(), Path.of("account")))
                .hasMessageContaining("KUBERNETES_SERVICE_HOST");
    }

    private ApiServer client(String base, Duration patience) {
        return new ApiServer(
                URI.create(base), folder.resolve("token"), folder.resolve("ca.crt"), patience);
    }

    private static JsonElement json(String text) {
        return JsonParser.parseString(text);
    }

    @Nested
    class Tls {

        @Test
        void trustsTheCaOfItsServiceAccount() throws Exception {
            Served served = serve("127.0.0.1");
            Files.writeString(folder.resolve("ca.crt"), served.pem());

            try (var client = client(served.address(), Duration.ofSeconds(30))) {
                assertThat(root(client)).isEqualTo(new JsonObject());
            } finally {
                served.server().stop(0);
            }
        }

        @Test
        void trustsNoOtherCaUntilItIsInTheFile() throws Exception {
            Served other = serve("127.0.0.1");
            Served served = serve("127.0.0.1");
            Files.writeString(folder.resolve("ca.crt"), other.pem());

            try (var client = client(served.address(), Duration.ofSeconds(30))) {
                assertThatThrownBy(() -> client.get("/", JsonParser::parseReader))
                        .hasCauseInstanceOf(SSLException.class);

                Files.writeString(folder.resolve("ca.crt"), other.pem() + served.pem());
                assertThat(root(client)).isEqualTo(new JsonObject());
            } finally {
                other.server().stop(0);
                served.server().stop(0);
            }
        }

        @Test
        void trustsNoCertificateThatIsForAnotherAddress() throws Exception {
            Served served = serve("127.0.0.2");
            Files.writeString(folder.resolve("ca.crt"), served.pem());

            try (var client = client(served.address(), Duration.ofSeconds(30))) {
                assertThatThrownBy(() -> client.get("/", JsonParser::parseReader))
                        .hasCauseInstanceOf(SSLException.class);
            } finally {
                served.server().stop(0);
            }
        }

        @Test
        void aCaFileWithoutACertificateIsNamed() throws Exception {
            Served served = serve("127.0.0.1");
            Files.writeString(folder.resolve("ca.crt"), "");

            try (var client = client(served.address(), Duration.ofSeconds(30))) {
                assertThatThrownBy(() -> client.get("/", JsonParser::parseReader))
                        .hasStackTraceContaining(folder.resolve("ca.crt").toString());
            } finally {
                served.server().stop(0);
            }
        }

        private static JsonElement root(ApiServer client) throws Exception {
            return client.get("/", JsonParser::parseReader);
        }

        private record Served(HttpsServer server, String pem) {

            String address() {
                return "https://127.0.0.1:" + server.getAddress().getPort();
            }
        }

        /** Answers all requests with an empty object, with a certificate for an address. */
        private Served serve(String certified) throws Exception {
            Path file = Files.createTempFile(folder, "keys", ".p12");
            Files.delete(file);
            Process keytool =
                    new ProcessBuilder(
                                    Path.of(System.getProperty("java.home"), "bin", "keytool")
                                            .toString(),
                                    "-genkeypair",
                                    "-alias",
                                    "api",
                                    "-keyalg",
                                    "EC",
                                    "-groupname",
                                    "secp256r1",
                                    "-dname",
                                    "CN=api server",
                                    "-ext",
                                    "SAN=ip:" + certified,
                                    "-validity",
                                    "2",
                                    "-keystore",
                                    file.toString(),
                                    "-storetype",
                                    "PKCS12",
                                    "-storepass",
                                    "changeit")
                            .redirectErrorStream(true)
                            .start();
            String said;
            try (InputStream output = keytool.getInputStream()) {
                said = new String(output.readAllBytes(), UTF_8);
            }
            assertThat(keytool.waitFor()).as(said).isZero();
            char[] password = "changeit".toCharArray();
            KeyStore store = KeyStore.getInstance(file.toFile(), password);
            KeyManagerFactory keys =
                    KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            keys.init(store, password);
            SSLContext tls = SSLContext.getInstance("TLS");
            tls.init(keys.getKeyManagers(), null, null);
            HttpsServer server =
                    HttpsServer.create(
                            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            server.setHttpsConfigurator(new HttpsConfigurator(tls));
            server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
            server.createContext(
                    "/",
                    exchange -> {
                        exchange.sendResponseHeaders(200, 2);
                        exchange.getResponseBody().write("{}".getBytes(UTF_8));
                        exchange.close();
                    });
            server.start();
            String pem =
                    "-----BEGIN CERTIFICATE-----\n%s\n-----END CERTIFICATE-----\n"
                            .formatted(
                                    Base64.getMimeEncoder()
                                            .encodeToString(
                                                    store.getCertificate("api").getEncoded()));
            return new Served(server, pem);
        }
    }
}
