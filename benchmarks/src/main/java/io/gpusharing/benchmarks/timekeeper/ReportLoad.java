package io.gpusharing.benchmarks.timekeeper;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;

/**
 * Meters that report over TLS, each on a connection of its own that it keeps. Reports are due at
 * fixed instants, whether the last was answered or not: what had to wait is counted from when it
 * was due.
 */
final class ReportLoad {

    /** One meter: its token, and what it reports with a sequence at some elapsed time. */
    interface Meter {
        String token();

        UUID run();

        String body(long sequence, long elapsedMicros);
    }

    private final SSLContext tls;
    private final int port;
    private final List<? extends Meter> meters;
    private final double perSecond;
    private final long[] acknowledged;
    private final Latencies[] latencies;
    private final Map<String, Integer> refused = new ConcurrentSkipListMap<>();
    private volatile boolean open = true;
    private volatile boolean ending;

    /**
     * @param perSecond reports of all meters together; zero as fast as they are answered
     */
    ReportLoad(SSLContext tls, int port, List<? extends Meter> meters, double perSecond) {
        this.tls = tls;
        this.port = port;
        this.meters = meters;
        this.perSecond = perSecond;
        this.acknowledged = new long[meters.size()];
        this.latencies = new Latencies[meters.size()];
        for (int i = 0; i < latencies.length; i++) {
            latencies[i] = new Latencies();
        }
    }

    /** How many of each meter's reports, from 1 on, were acknowledged. */
    long[] acknowledged() {
        return acknowledged.clone();
    }

    long answers() {
        long sum = 0;
        for (long count : acknowledged) {
            sum += count;
        }
        return sum;
    }

    /** How many answers were none, by their status or by how the connection broke. */
    Map<String, Integer> refused() {
        return refused;
    }

    Latencies latencies() {
        var all = new Latencies();
        for (Latencies one : latencies) {
            all.addAll(one);
        }
        return all;
    }

    /** Runs until the end, or until {@code killAfter} has ended the other side. */
    void run(double seconds, Runnable atTheEnd) throws InterruptedException {
        var connected = new CountDownLatch(meters.size());
        var go = new CountDownLatch(1);
        var threads = new Thread[meters.size()];
        for (int i = 0; i < threads.length; i++) {
            int number = i;
            threads[i] = Thread.ofVirtual().start(() -> meter(number, connected, go));
        }
        connected.await();
        go.countDown();
        Thread.sleep((long) (seconds * 1000));
        ending = true;
        atTheEnd.run();
        open = false;
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private void meter(int number, CountDownLatch connected, CountDownLatch go) {
        Meter meter = meters.get(number);
        boolean counted = false;
        try (Socket plain = new Socket()) {
            plain.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            plain.setTcpNoDelay(true);
            SSLSocket socket =
                    (SSLSocket) tls.getSocketFactory().createSocket(plain, "127.0.0.1", port, true);
            socket.startHandshake();
            OutputStream out = socket.getOutputStream();
            var in = new BufferedInputStream(socket.getInputStream(), 4096);
            connected.countDown();
            counted = true;
            go.await();
            report(number, meter, in, out);
        } catch (IOException e) {
            // The other side was killed, as planned; or it refused to talk at all.
            if (!ending) {
                refused.merge(String.valueOf(e.getMessage()), 1, Integer::sum);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            if (!counted) {
                connected.countDown();
            }
        }
    }

    private void report(int number, Meter meter, InputStream in, OutputStream out)
            throws IOException {
        long start = System.nanoTime();
        double period = perSecond == 0 ? 0 : meters.size() / perSecond * 1e9;
        for (long sequence = 1; open; sequence++) {
            long due =
                    perSecond == 0
                            ? System.nanoTime()
                            : start
                                    + (long)
                                            (period
                                                    * (sequence
                                                            - 1
                                                            + number / (double) meters.size()));
            long now = System.nanoTime();
            if (now < due) {
                LockSupport.parkNanos(due - now);
            }
            if (!open) {
                return;
            }
            String body = meter.body(sequence, (System.nanoTime() - start) / 1000);
            out.write(request(meter.token(), body));
            out.flush();
            int status = answer(in);
            if (status == 200) {
                latencies[number].add(System.nanoTime() - due);
                acknowledged[number] = sequence;
            } else {
                refused.merge(String.valueOf(status), 1, Integer::sum);
                return;
            }
        }
    }

    private static byte[] request(String token, String body) {
        return ("POST /api/v1/usage HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer "
                        + token
                        + "\r\nContent-Type: application/json\r\nContent-Length: "
                        + body.length()
                        + "\r\n\r\n"
                        + body)
                .getBytes(StandardCharsets.US_ASCII);
    }

    private static int answer(InputStream in) throws IOException {
        String status = line(in);
        int length = -1;
        boolean chunked = false;
        for (String header = line(in); !header.isEmpty(); header = line(in)) {
            String lower = header.toLowerCase(Locale.ROOT);
            if (lower.startsWith("content-length:")) {
                length = Integer.parseInt(lower.substring(15).strip());
            } else if (lower.startsWith("transfer-encoding:")) {
                chunked = true;
            }
        }
        if (chunked) {
            for (int size = chunk(in); size > 0; size = chunk(in)) {
                in.skipNBytes(size + 2L);
            }
            line(in);
        } else if (length > 0) {
            in.skipNBytes(length);
        }
        return Integer.parseInt(status.substring(9, 12));
    }

    private static int chunk(InputStream in) throws IOException {
        return Integer.parseInt(line(in), 16);
    }

    private static String line(InputStream in) throws IOException {
        var line = new StringBuilder(64);
        int read = in.read();
        while (read != '\n') {
            if (read < 0) {
                throw new IOException("the connection ended");
            }
            if (read != '\r') {
                line.append((char) read);
            }
            read = in.read();
        }
        return line.toString();
    }
}
