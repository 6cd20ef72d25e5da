package io.gpusharing.e2e.installation;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

/**
 * Ports of 127.0.0.1 that nobody listens on. They are below those that Linux gives to outgoing
 * connections (32768 and up) and those of the control planes (20000 to 29999): a port is named some
 * time before its program listens, and none of the connections in between may take it.
 */
public final class Ports {

    private static final int FIRST = 10_000;
    private static final int COUNT = 10_000;

    /** Programs that test at the same time begin at different ones. */
    private static final AtomicInteger next =
            new AtomicInteger((int) (ProcessHandle.current().pid() * 67 % COUNT));

    private Ports() {}

    /** So many different ones, none of which was given before. */
    public static List<Integer> free(int count) {
        return IntStream.generate(() -> FIRST + Math.floorMod(next.getAndIncrement(), COUNT))
                .limit(COUNT)
                .filter(Ports::isFree)
                .limit(count)
                .boxed()
                .toList();
    }

    private static boolean isFree(int port) {
        try (var _ = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return true;
        } catch (IOException e) {
            return false;
        }
    }
}
