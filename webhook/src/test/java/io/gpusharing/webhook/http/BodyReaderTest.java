package io.gpusharing.webhook.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.webhook.http.BodyReader.Read;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.SocketTimeoutException;
import org.apache.catalina.connector.ClientAbortException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BodyReaderTest {

    private static final int MIB = 1024 * 1024;

    private static final String CLIENT = "10.0.0.1";
    private final BodyReader bodies = new BodyReader(8 * MIB, MIB, 8 * MIB, _ -> "team-a");

    @Test
    void aBodyIsReadCompletelyWithAndWithoutAContentLength() throws IOException {
        byte[] sent = bytes(300_000);

        for (int declared : new int[] {sent.length, -1}) {
            Read.Body read = body(readFrom(in(sent), declared, soon()));
            assertThat(read.bytes()).isEqualTo(sent);
            bodies.release(read);
        }
    }

    @Test
    void aBodyThatEndsEarlyIsAsShortAsItIs() throws IOException {
        assertThat(body(readFrom(in(bytes(10)), 20, soon())).bytes()).hasSize(10);
    }

    @Test
    void aBodyBeyondTheLongestIsTooLongAndHoldsNothing() throws IOException {
        for (int announced : new int[] {9 * MIB, -1}) {
            InputStream sent = in(bytes(9 * MIB));

            Read read = readFrom(sent, announced, soon());

            assertThat(read).isInstanceOf(Read.TooLong.class);
            assertThat(((Read.TooLong) read).begin()).isEqualTo(bytes(BodyReader.FIRST));
            assertThat(sent.read()).as("the rest").isEqualTo(-1);
        }
        assertThat(readFrom(InputStream.nullInputStream(), 40 * MIB, soon()))
                .as("not waited for")
                .isInstanceOf(Read.TooLong.class);

        assertThat(everythingIsFree()).isTrue();
    }

    @Test
    void aContentLengthReservesNoMemoryBeforeTheFirstBytes() throws IOException {
        InputStream silent =
                new InputStream() {
                    @Override
                    public int read() throws IOException {
                        return read(new byte[1], 0, 1);
                    }

                    @Override
                    public int read(byte[] into, int offset, int length) throws IOException {
                        // Whatever the other one declared, a body of all memory fits beside it.
                        body(readFrom(in(bytes(8 * MIB)), 8 * MIB, soon()));
                        // As Tomcat throws it.
                        throw new ClientAbortException(new SocketTimeoutException());
                    }
                };

        assertThat(readFrom(silent, 8 * MIB, soon())).isEqualTo(new Read.TooLate());
    }

    @ParameterizedTest
    @ValueSource(ints = {1000, MIB})
    void aSlowBodyIsGivenUpAtTheDeadline(int declared) throws IOException {
        var trickle = new Trickle(declared == MIB ? BodyReader.FIRST : 0);

        assertThat(readFrom(trickle, declared, System.nanoTime())).isEqualTo(new Read.TooLate());
        assertThat(everythingIsFree()).isTrue();
    }

    /** A number of bytes at once, and the others one by one for ever. */
    private static final class Trickle extends InputStream {

        private int atOnce;

        Trickle(int atOnce) {
            this.atOnce = atOnce;
        }

        @Override
        public int read() {
            return '1';
        }

        @Override
        public int read(byte[] into, int offset, int length) {
            int count = Math.max(1, Math.min(length, atOnce));
            atOnce -= count;
            return count;
        }
    }

    @Test
    void aLongBodyThatFindsNoMemoryByItsDeadlineIsTooLateAndAUsualOneHasItsOwn()
            throws IOException {
        Read.Body first = body(readFrom(in(bytes(8 * MIB)), 8 * MIB, soon()));

        assertThat(readFrom(in(bytes(MIB)), MIB, soonAfter(first))).isEqualTo(new Read.TooLate());
        Read usual = readFrom(in(bytes(10)), 10, soonAfter(first));
        assertThat(body(usual).isLong()).isFalse();

        bodies.release(first);
        assertThat(everythingIsFree()).isTrue();
    }

    @Test
    void aClientThatSendsManyLongBodiesLeavesMemoryToAnother() throws IOException {
        Read read;
        do {
            read = readFrom(in(bytes(MIB)), MIB, System.nanoTime() + 100_000_000);
        } while (read instanceof Read.Body);

        assertThat(bodies.read(in(bytes(MIB)), "10.0.0.2", MIB, soon()))
                .isInstanceOf(Read.Body.class);
    }

    @Test
    void aBodyOfWhichMoreThanItsConnectionHoldsIsAnnouncedWaitsForMemoryBeforeItIsRead()
            throws IOException {
        body(readFrom(in(bytes(8 * MIB)), 8 * MIB, soon()));
        InputStream sent = in(bytes(MIB));

        readFrom(sent, MIB, System.nanoTime() + 1_000_000);

        assertThat(sent.available()).isEqualTo(MIB - BodyReader.FIRST);
    }

    @Test
    void anAbortedBodyHoldsNoMemoryAfterItsRelease() throws IOException {
        Read.Body torn = body(readFrom(in(bytes(MIB)), 2 * MIB, soon()));

        assertThat(torn.bytes()).hasSize(MIB);
        bodies.release(torn);
        assertThat(everythingIsFree()).isTrue();
    }

    private Read readFrom(InputStream in, int announced, long deadline) throws IOException {
        return bodies.read(in, CLIENT, announced, deadline);
    }

    private boolean everythingIsFree() throws IOException {
        Read read = readFrom(in(bytes(8 * MIB)), 8 * MIB, soon());
        if (read instanceof Read.Body body) {
            bodies.release(body);
            return true;
        }
        return false;
    }

    /** Nothing is released before. */
    private static long soonAfter(Read.Body held) {
        assertThat(held.held()).isEqualTo(8 * MIB);
        return System.nanoTime() + 100_000_000;
    }

    private static Read.Body body(Read read) {
        assertThat(read).isInstanceOf(Read.Body.class);
        return (Read.Body) read;
    }

    private static InputStream in(byte[] bytes) {
        return new ByteArrayInputStream(bytes);
    }

    private static byte[] bytes(int length) {
        return "a".repeat(length).getBytes(UTF_8);
    }

    private static long soon() {
        return System.nanoTime() + 10_000_000_000L;
    }
}
