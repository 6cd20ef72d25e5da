import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/**
 * Answers with one budget while the plugin is put together, so that the training run of the AOT
 * cache goes through TLS as real ones do. Started from source, and no part of the plugin.
 *
 * <p>Arguments: a PKCS#12 key store, its password, a file to write the port to.
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

    public static void main(String[] args) throws Exception {
        KeyStore store = KeyStore.getInstance(Path.of(args[0]).toFile(), args[1].toCharArray());
        KeyManagerFactory keys =
                KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(store, args[1].toCharArray());
        SSLContext tls = SSLContext.getInstance("TLS");
        tls.init(keys.getKeyManagers(), null, null);
        HttpsServer server =
                HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setHttpsConfigurator(new HttpsConfigurator(tls));
        server.createContext(
                "/",
                exchange -> {
                    byte[] answer = BUDGETS.getBytes();
                    exchange.getResponseHeaders().add("Content-Type", "application/json");
                    exchange.sendResponseHeaders(200, answer.length);
                    exchange.getResponseBody().write(answer);
                    exchange.close();
                });
        server.start();
        Files.writeString(Path.of(args[2]), Integer.toString(server.getAddress().getPort()));
    }
}
