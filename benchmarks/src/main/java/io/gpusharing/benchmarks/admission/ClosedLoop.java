package io.gpusharing.benchmarks.admission;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * Asks servers in turn, as fast as they answer: some connections that are kept, TLS 1.3, one
 * question at a time on each. It costs its machine little, so that what it measures is the server:
 * how many answers for a second of the server's processor time.
 *
 * <p>Arguments: file with the body, connections, seconds of a turn, turns of each server, and for
 * each server {@code NAME=PID=URL}. Prints a line of JSON for each turn.
 */
public final class ClosedLoop {

    private static final byte[] HEAD_ENDS = "\r\n\r\n".getBytes(US_ASCII);

    private record Server(String name, String pid, URI url) {

        static Server of(String argument) {
            String[] parts = argument.split("=", 3);
            return new Server(parts[0], parts[1], URI.create(parts[2]));
        }

        /** Processor time of the process so far; Linux counts it in hundredths of a second. */
        double processorSeconds() throws IOException {
            String stat = Files.readString(Path.of("/proc", pid, "stat"));
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
            return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) / 100.0;
        }
    }

    private final Server server;
    private final byte[] request;
    private final SSLContext tls;

    private ClosedLoop(Server server, byte[] body, SSLContext tls) {
        this.server = server;
        this.tls = tls;
        byte[] head =
                "POST %s?%s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
                        .formatted(
                                server.url().getRawPath(),
                                server.url().getRawQuery(),
                                server.url().getHost(),
                                body.length)
                        .getBytes(US_ASCII);
        request = Arrays.copyOf(head, head.length + body.length);
        System.arraycopy(body, 0, request, head.length, body.length);
    }

    /** Asks, and prints what came of it. */
    public static void main(String[] arguments) throws Exception {
        byte[] body = Files.readAllBytes(Path.of(arguments[0]));
        int connections = Integer.parseInt(arguments[1]);
        long nanos = Long.parseLong(arguments[2]) * 1_000_000_000;
        SSLContext tls = trustingAll();
        List<ClosedLoop> loops =
                Arrays.stream(arguments)
                        .skip(4)
                        .map(argument -> new ClosedLoop(Server.of(argument), body, tls))
                        .toList();
        for (int turn = 0; turn < Integer.parseInt(arguments[3]); turn++) {
            for (ClosedLoop loop : loops) {
                System.out.println(loop.turn(connections, nanos));
            }
        }
    }

    private String turn(int connections, long nanos)
            throws IOException, InterruptedException, ExecutionException {
        double processor = server.processorSeconds();
        long began = System.nanoTime();
        Callable<long[]> asking = () -> ask(began + nanos);
        var latencies = new ArrayList<long[]>();
        try (var threads = Executors.newFixedThreadPool(connections)) {
            var running = new ArrayList<Future<long[]>>();
            for (int i = 0; i < connections; i++) {
                running.add(threads.submit(asking));
            }
            for (Future<long[]> one : running) {
                latencies.add(one.get());
            }
        }
        double seconds = (System.nanoTime() - began) / 1e9;
        processor = server.processorSeconds() - processor;
        long[] all = latencies.stream().flatMapToLong(Arrays::stream).sorted().toArray();
        return String.format(
                Locale.ROOT,
                "{\"server\": \"%s\", \"answers\": %d, \"per_second\": %.0f, \"per_processor_second\": %.0f, \"p50_ms\": %.3f, \"p99_ms\": %.3f, \"max_ms\": %.3f}",
                server.name(),
                all.length,
                all.length / seconds,
                all.length / processor,
                all[all.length / 2] / 1e6,
                all[(int) (all.length * 0.99)] / 1e6,
                all[all.length - 1] / 1e6);
    }

    /** Nanoseconds of each answer. Whatever is not answered 200 ends the measurement. */
    private long[] ask(long until) throws IOException {
        long[] took = new long[1024];
        int count = 0;
        try (var socket =
                (SSLSocket)
                        tls.getSocketFactory()
                                .createSocket(server.url().getHost(), server.url().getPort())) {
            socket.setTcpNoDelay(true);
            OutputStream out = socket.getOutputStream();
            InputStream in = socket.getInputStream();
            byte[] buffer = new byte[1 << 16];
            for (long now = System.nanoTime(); now < until; ) {
                out.write(request);
                readAnswer(in, buffer);
                long then = System.nanoTime();
                if (count == took.length) {
                    took = Arrays.copyOf(took, 2 * count);
                }
                took[count++] = then - now;
                now = then;
            }
        }
        return Arrays.copyOf(took, count);
    }

    private static void readAnswer(InputStream in, byte[] buffer) throws IOException {
        int have = 0;
        int body;
        do {
            have += read(in, buffer, have);
            body = bodyFrom(buffer, have);
        } while (body < 0);
        String head = new String(buffer, 0, body, US_ASCII);
        if (!head.startsWith("HTTP/1.1 200")) {
            throw new IOException("Answered " + head);
        }
        int end = body + contentLength(head);
        while (have < end) {
            have += read(in, buffer, have);
        }
    }

    private static int read(InputStream in, byte[] buffer, int from) throws IOException {
        int read = in.read(buffer, from, buffer.length - from);
        if (read < 0) {
            throw new EOFException("The server hung up");
        }
        return read;
    }

    private static int bodyFrom(byte[] buffer, int length) {
        for (int i = 0; i <= length - HEAD_ENDS.length; i++) {
            if (Arrays.equals(buffer, i, i + HEAD_ENDS.length, HEAD_ENDS, 0, HEAD_ENDS.length)) {
                return i + HEAD_ENDS.length;
            }
        }
        return -1;
    }

    private static int contentLength(String head) {
        String name = "\r\ncontent-length: ";
        int from = head.toLowerCase(Locale.ROOT).indexOf(name) + name.length();
        return Integer.parseInt(head.substring(from, head.indexOf('\r', from)));
    }

    /** Who answers is not what is measured. */
    private static SSLContext trustingAll() throws GeneralSecurityException {
        SSLContext context = SSLContext.getInstance("TLSv1.3");
        context.init(null, new TrustManager[] {new TrustsAll()}, null);
        return context;
    }

    private static final class TrustsAll extends X509ExtendedTrustManager {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
