package io.gpusharing.web;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.catalina.LifecycleException;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Real sockets of several addresses of the loopback interface, which Linux lets anybody bind. */
class SharedConnectionsTest {

    private static final int PLACES = 16;
    private static final String REQUEST =
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi";

    @TempDir Path directory;

    private final Tomcat tomcat = new Tomcat();
    private final Connector connector = new Connector(new SharedConnections());
    private final List<Socket> opened = new ArrayList<>();

    @BeforeEach
    void start() throws LifecycleException {
        tomcat.setBaseDir(directory.toString());
        connector.setPort(0);
        connector.setProperty("maxConnections", String.valueOf(PLACES));
        connector.setProperty("maxThreads", "8");
        connector.setProperty("connectionTimeout", "60000");
        tomcat.setConnector(connector);
        var context = tomcat.addContext("", null);
        Tomcat.addServlet(context, "echo", new Echo());
        context.addServletMappingDecoded("/", "echo");
        tomcat.start();
    }

    @AfterEach
    void stop() throws LifecycleException, IOException {
        for (Socket each : opened) {
            each.close();
        }
        tomcat.stop();
        tomcat.destroy();
    }

    /** Says how many bytes came. */
    private static final class Echo extends HttpServlet {

        private static final long serialVersionUID = 1;

        @Override
        protected void service(HttpServletRequest request, HttpServletResponse response)
                throws IOException {
            response.getWriter().print(request.getInputStream().readAllBytes().length);
        }
    }

    @ParameterizedTest(name = "\"{0}\"")
    @ValueSource(
            strings = {
                "",
                "POST / HTTP/1.1\r\n",
                "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n"
            })
    void anAddressThatOpensAllItCanAndSendsLittleKeepsNobodyElseOut(String sent)
            throws IOException {
        for (int i = 0; i < 10 * PLACES; i++) {
            send(open("127.0.0.1"), sent);
        }

        for (int i = 0; i < 5; i++) {
            assertThat(answer(open("127.0.0.2"))).startsWith("HTTP/1.1 200");
        }
    }

    @Test
    void manyAddressesThatTakeAllPlacesGiveOneToANewcomer() throws IOException {
        for (int i = 0; i < PLACES; i++) {
            for (int address = 10; address < 13; address++) {
                send(open("127.0.0." + address), "POST");
            }
        }

        assertThat(answer(open("127.0.0.2"))).startsWith("HTTP/1.1 200");
        assertThat(answer(open("127.0.0.3"))).startsWith("HTTP/1.1 200");
    }

    @Test
    void aConnectionInUseIsKeptWhileAnotherAddressOpensAllItCan() throws IOException {
        Socket kept = open("127.0.0.2");
        assertThat(answer(kept)).startsWith("HTTP/1.1 200");
        for (int i = 0; i < 10 * PLACES; i++) {
            open("127.0.0.1");
            if (i % PLACES == 0) {
                assertThat(answer(kept)).startsWith("HTTP/1.1 200");
            }
        }

        assertThat(answer(kept)).startsWith("HTTP/1.1 200");
    }

    @Test
    void oneAddressAloneIsAnsweredOnAsManyConnectionsAsItOpens() throws IOException {
        for (int i = 0; i < 2 * PLACES; i++) {
            try (Socket one = open("127.0.0.1")) {
                assertThat(answer(one)).startsWith("HTTP/1.1 200");
            }
        }
    }

    @Test
    void beyondSoManyUnfinishedHeadsOneOfTheAddressWithMostEnds() throws IOException {
        connector.setProperty("maxUnfinishedHeads", "4");
        var ended = new ArrayList<CompletableFuture<Integer>>();
        for (int i = 0; i < 4; i++) {
            Socket greedy = open("127.0.0.1");
            send(greedy, "POST / HTTP/1.1\r\n");
            ended.add(
                    CompletableFuture.supplyAsync(() -> read(greedy), Thread::startVirtualThread));
        }
        Socket another = open("127.0.0.2");
        send(another, REQUEST.substring(0, 20));

        var first = CompletableFuture.anyOf(ended.toArray(CompletableFuture<?>[]::new));
        assertThat(first.join()).isEqualTo(-1);
        send(another, REQUEST.substring(20));
        assertThat(received(another)).startsWith("HTTP/1.1 200");
        assertThat(ended).filteredOn(CompletableFuture::isDone).hasSize(1);
    }

    private static int read(Socket socket) {
        try {
            return socket.getInputStream().read();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Socket open(String from) throws IOException {
        var socket =
                new Socket(
                        InetAddress.ofLiteral("127.0.0.1"),
                        connector.getLocalPort(),
                        InetAddress.ofLiteral(from),
                        0);
        socket.setSoTimeout(10_000);
        opened.add(socket);
        return socket;
    }

    /** A connection that was turned away takes nothing more. */
    private static void send(Socket socket, String bytes) {
        try {
            socket.getOutputStream().write(bytes.getBytes(US_ASCII));
        } catch (IOException e) {
            // Turned away.
        }
    }

    private static String answer(Socket socket) throws IOException {
        send(socket, REQUEST);
        return received(socket);
    }

    private static String received(Socket socket) throws IOException {
        byte[] answer = new byte[4096];
        int length = socket.getInputStream().read(answer);
        return length < 0 ? "closed" : new String(answer, 0, length, US_ASCII);
    }
}
