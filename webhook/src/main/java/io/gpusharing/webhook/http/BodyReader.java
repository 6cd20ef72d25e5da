package io.gpusharing.webhook.http;

import io.gpusharing.webhook.http.RoundRobinSemaphore.Asker;
import java.io.IOException;
import java.io.InputStream;
import java.net.SocketTimeoutException;
import java.util.Arrays;
import java.util.function.Function;

/**
 * Reads bodies into a bounded amount of memory, each by its deadline.
 *
 * <p>Anybody who reaches the port may open connections. So nothing is held for what is announced:
 * only a body whose first {@value #FIRST} bytes have come takes memory for the rest, all at once,
 * for of two that wait for more while they hold some neither would get it. Clients share that
 * memory, and one that sends slowly leaves some to the others. A body that trickles in is given up
 * when its time is over.
 *
 * <p>Usual bodies have memory of their own, so that none waits for long ones.
 */
final class BodyReader {

    /** Bytes from which a body is long; the largest pods of real workloads are smaller. */
    static final int LONG = 64 * 1024;

    /** What is announced as so many times the longest body is not waited for: no review is. */
    private static final int TOO_LONG_TO_COME = 4;

    /** Bytes of a body that belong to its connection. An API server names the namespace in them. */
    static final int FIRST = 8 * 1024;

    private final int maxBody;
    private final Function<byte[], String> namespaces;
    private final Memory usual;
    private final Memory longOnes;

    /**
     * @param maxBody longest body, in bytes
     * @param usual bytes of all usual bodies together
     * @param longOnes bytes of all long bodies together
     * @param namespaces reads whose body it is from its first {@value #FIRST} bytes
     */
    BodyReader(int maxBody, int usual, int longOnes, Function<byte[], String> namespaces) {
        this.maxBody = maxBody;
        this.namespaces = namespaces;
        this.usual = new Memory(usual, new RoundRobinSemaphore(usual));
        this.longOnes = new Memory(longOnes, new RoundRobinSemaphore(longOnes));
    }

    private record Memory(int total, RoundRobinSemaphore permits) {

        /** Bytes of it that were taken; negative if there was not enough in time. */
        int take(int bytes, Asker asker, long deadline) {
            int taken = Math.min(total, bytes);
            return permits.acquire(asker, taken, deadline) ? taken : -1;
        }
    }

    /** What became of reading a body. */
    sealed interface Read {

        /**
         * The whole body, or as much as came before the client hung up.
         *
         * @param asker whose turn it takes
         * @param held bytes of memory
         */
        // Handed on once and compared by nobody.
        @SuppressWarnings("ArrayRecordComponent")
        record Body(byte[] bytes, boolean isLong, Asker asker, int held) implements Read {}

        /**
         * It is longer than a body may be.
         *
         * @param begin its first bytes. The rest has come, too, so that the client hears the
         *     answer; empty if nothing of it was waited for
         */
        // Handed on once and compared by nobody.
        @SuppressWarnings("ArrayRecordComponent")
        record TooLong(byte[] begin) implements Read {}

        /** Its time was over before all of it was there, or before there was memory for it. */
        record TooLate() implements Read {}
    }

    /**
     * Reads a body; what a {@link Read.Body} holds is given back by {@link #release}.
     *
     * @param client the address of who sends it
     * @param announced its length in bytes; negative if the client did not say
     * @param deadline by {@link System#nanoTime}
     */
    Read read(InputStream in, String client, int announced, long deadline) throws IOException {
        if (announced / TOO_LONG_TO_COME > maxBody) {
            return new Read.TooLong(new byte[0]);
        }
        int most = announced < 0 ? maxBody + 1 : announced;
        byte[] begin = new byte[Math.min(most, FIRST)];
        int length = fill(in, begin, 0, deadline);
        if (length < 0) {
            return new Read.TooLate();
        }
        byte[] head = cut(begin, length);
        if (announced > maxBody) {
            return tooLong(in, head, deadline);
        }
        if (length < FIRST) {
            most = length;
        }
        boolean isLong = most > LONG;
        Asker asker = asker(client, head, most > FIRST);
        int held = (isLong ? longOnes : usual).take(most, asker, deadline);
        if (held < 0) {
            return new Read.TooLate();
        }
        var body = new Read.Body(head, isLong, asker, held);
        return most > FIRST ? rest(in, body, most, deadline) : body;
    }

    /** A longer body's namespace is read at once, so that its begin is not kept beside it all. */
    private Asker asker(String client, byte[] head, boolean isLonger) {
        if (!isLonger) {
            return new Asker(client, () -> namespaces.apply(head));
        }
        String read = namespaces.apply(head);
        return new Asker(client, () -> read);
    }

    private Read rest(InputStream in, Read.Body head, int most, long deadline) throws IOException {
        boolean isRead = false;
        try {
            byte[] bytes = Arrays.copyOf(head.bytes(), most);
            int length = fill(in, bytes, head.bytes().length, deadline);
            isRead = length >= 0 && length <= maxBody;
            if (isRead) {
                return new Read.Body(cut(bytes, length), head.isLong(), head.asker(), head.held());
            }
            if (length < 0) {
                return new Read.TooLate();
            }
        } finally {
            if (!isRead) {
                release(head);
            }
        }
        return tooLong(in, head.bytes(), deadline);
    }

    /** Lets the rest pass. */
    private static Read tooLong(InputStream in, byte[] begin, long deadline) throws IOException {
        byte[] passing = new byte[FIRST];
        int length = passing.length;
        while (length == passing.length) {
            length = fill(in, passing, 0, deadline);
        }
        return length < 0 ? new Read.TooLate() : new Read.TooLong(begin);
    }

    /** Gives back what a body held. */
    void release(Read.Body body) {
        (body.isLong() ? longOnes : usual).permits().release(body.asker().client(), body.held());
    }

    /** Bytes that are there then, fewer than fit if no more came; negative if the time was over. */
    private static int fill(InputStream in, byte[] into, int from, long deadline)
            throws IOException {
        int length = from;
        try {
            while (length < into.length) {
                int count = in.read(into, length, into.length - length);
                if (count < 0) {
                    break;
                }
                length += count;
                if (System.nanoTime() > deadline) {
                    return -1;
                }
            }
        } catch (IOException e) {
            // Tomcat takes it for a client that has gone, and would answer that its request is bad.
            if (e instanceof SocketTimeoutException
                    || e.getCause() instanceof SocketTimeoutException) {
                return -1;
            }
            throw e;
        }
        return length;
    }

    private static byte[] cut(byte[] bytes, int length) {
        return length == bytes.length ? bytes : Arrays.copyOf(bytes, length);
    }
}
