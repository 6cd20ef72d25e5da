import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsParameters;
import com.sun.net.httpserver.HttpsServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Base64;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManagerFactory;

/**
 * Answers what commands ask while the plugin is put together, so that the training run of the AOT
 * cache goes through TLS and reads objects as real ones do. Started from source, and no part of the plugin.
 *
 * <p>Arguments: a PKCS#12 key store, its password, a file to write the port to, and one for the key,
 * which the plugin shows as that of its user.
 */
class TrainingApiServer {

    private static final String BUDGETS =
            """
            {"items": [{
              "metadata": {"name": "training", "creationTimestamp": "2026-01-01T00:00:00Z"},
              "spec": {"namespaces": ["training"], "gpuMinutes": "60"},
              "status": {
                "asOf": "2026-01-01T00:00:00Z",
                "period": {"start": "2026-01-01T00:00:00Z", "end": "2026-02-01T00:00:00Z"},
                "used": 0, "remaining": 3600000000, "rate": 500000,
                "credits": [{
                  "source": "allowance", "remaining": 3600000000,
                  "from": "2026-01-01T00:00:00Z", "until": "2026-02-01T00:00:00Z"}]}}]}
            """;

    private static final String POD =
            """
            {"kind": "Pod", "apiVersion": "v1", "metadata": {"namespace": "training", "name": "training", "uid": "1"},
             "spec": {"nodeName": "n1", "containers": [{"name": "c"}]}, "status": {"phase": "Running"}}
            """;

    private static final String STATEMENT =
            """
            {"budget": "training", "from": "2026-01-01T00:00:00Z", "to": "2026-01-02T00:00:00Z", "opening": 0,
             "changes": [{"at": "2026-01-01T00:00:00Z", "kind": "Allowance", "source": "allowance", "amount": 3600000000}],
             "used": 60000000, "closing": 3540000000, "namespaces": {"training": 60000000},
             "lines": [{"kind": "Running", "from": "2026-01-01T00:00:00Z", "to": "2026-01-01T00:01:00Z",
                        "namespace": "training", "pod": "1", "podName": "training", "used": 60000000}]}
            """;

    private static final String POD_USAGES =
            """
            {"metadata": {}, "items": [{
              "metadata": {"namespace": "training", "name": "training", "uid": "1"},
              "status": {"node": "n1", "budget": "training", "gpus": "0.5", "since": "2026-01-01T00:00:00Z", "chargedMinutes": "1.000"}}]}
            """;

    private static final String POD_PROCESSES =
            """
            {"metadata": {}, "items": [{
              "metadata": {"namespace": "training", "name": "training", "uid": "1"},
              "status": {"node": "n1", "gpus": "0.5", "asOf": "2026-01-01T00:00:00Z", "devices": [{
                "uuid": "GPU-0", "index": 0, "grantedMiB": 3840, "processCount": 1,
                "processes": [{"pid": 1, "command": "python", "memoryMiB": 1000, "busyPercent": 37}]}]}}]}
            """;

    /** By the last part of what is asked; a list of nothing for anything else. */
    private static String answer(String path) {
        return switch (path.substring(path.lastIndexOf('/') + 1)) {
            case "gpubudgets" -> BUDGETS;
            case "training" -> POD;
            case "statement" -> STATEMENT;
            case "waste", "evictions" -> "[]";
            case "podusages" -> POD_USAGES;
            case "podprocesses" -> POD_PROCESSES;
            case "explanations" -> "{\"status\": {\"summary\": \"It is bound to n1\", \"details\": []}}";
            default -> "{\"items\": []}";
        };
    }

    public static void main(String[] args) throws Exception {
        KeyStore store = KeyStore.getInstance(Path.of(args[0]).toFile(), args[1].toCharArray());
        KeyManagerFactory keys =
                KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(store, args[1].toCharArray());
        SSLContext tls = SSLContext.getInstance("TLS");
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        trusted.setCertificateEntry("t", store.getCertificate("t"));
        TrustManagerFactory users =
                TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        users.init(trusted);
        tls.init(keys.getKeyManagers(), users.getTrustManagers(), null);
        Files.writeString(
                Path.of(args[3]),
                "-----BEGIN %1$s-----%n%2$s%n-----END %1$s-----%n"
                        .formatted(
                                "PRIVATE KEY",
                                Base64.getMimeEncoder()
                                        .encodeToString(
                                                store.getKey("t", args[1].toCharArray())
                                                        .getEncoded())));
        HttpsServer server =
                HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setHttpsConfigurator(
                new HttpsConfigurator(tls) {
                    @Override
                    public void configure(HttpsParameters parameters) {
                        SSLParameters asked = tls.getDefaultSSLParameters();
                        asked.setWantClientAuth(true);
                        parameters.setSSLParameters(asked);
                    }
                });
        server.createContext(
                "/",
                exchange -> {
                    byte[] answer = answer(exchange.getRequestURI().getPath()).getBytes();
                    exchange.getResponseHeaders().add("Content-Type", "application/json");
                    exchange.sendResponseHeaders(200, answer.length);
                    exchange.getResponseBody().write(answer);
                    exchange.close();
                });
        server.start();
        Files.writeString(Path.of(args[2]), Integer.toString(server.getAddress().getPort()));
    }
}
