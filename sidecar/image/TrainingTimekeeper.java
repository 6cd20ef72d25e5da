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
 * Takes usage reports while the image is built, so that the training run of the AOT cache goes
 * through TLS as the real one does. Started from source, and no part of the image.
 *
 * <p>Arguments: a PKCS#12 key store, its password, a file to write the port to.
 */
class TrainingTimekeeper {

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
                    exchange.getRequestBody().readAllBytes();
                    byte[] answer = "{\"result\":\"Accepted\",\"mode\":\"Full\"}".getBytes();
                    exchange.sendResponseHeaders(200, answer.length);
                    exchange.getResponseBody().write(answer);
                    exchange.close();
                });
        server.start();
        Files.writeString(Path.of(args[2]), Integer.toString(server.getAddress().getPort()));
    }
}
