package io.gpusharing.webhook.admission;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.webhook.admission.Intake.Read;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.SocketTimeoutException;
import org.junit.jupiter.api.Test;

class IntakeTest {

    private static final int MIB = 1024 * 1024;

    private final Intake intake = new Intake(8 * MIB, 8 * MIB);

    @Test
    void aBodyIsReadWholeWhetherItsLengthWasAnnouncedOrNot() throws IOException {
        byte[] sent = bytes(300_000);

        assertThat(body(intake.read(in(sent), sent.length, 1, soon())).bytes()).isEqualTo(sent);
        assertThat(body(intake.read(in(sent), -1, 1, soon())).bytes()).isEqualTo(sent);
    }

    @Test
    void aBodyThatEndsEarlyIsAsShortAsItIs() throws IOException {
        assertThat(body(intake.read(in(bytes(10)), 20, 1, soon())).bytes()).hasSize(10);
    }

    @Test
    void aBodyBeyondTheLongestIsTooLongAndHoldsNothing() throws IOException {
        assertThat(intake.read(in(bytes(0)), 8 * MIB + 1, 1, soon())).isEqualTo(new Read.TooLong());
        assertThat(intake.read(in(bytes(8 * MIB + 1)), -1, 1, soon()))
                .isEqualTo(new Read.TooLong());

        assertThat(everythingIsFree()).isTrue();
    }

    @Test
    void whatIsAnnouncedAndNotSentHoldsLittle() throws IOException {
        InputStream silent =
                new InputStream() {
                    @Override
                    public int read() throws IOException {
                        return read(new byte[1], 0, 1);
                    }

                    @Override
                    public int read(byte[] into, int offset, int length) throws IOException {
                        // Whatever the other one announced, a body of most of the memory fits
                        // beside it.
                        body(intake.read(in(bytes(7 * MIB)), 7 * MIB, 1, soon()));
                        throw new SocketTimeoutException();
                    }
                };

        assertThat(intake.read(silent, 8 * MIB, 1, soon())).isEqualTo(new Read.TooLate());
    }

    @Test
    void aBodyThatTricklesInIsGivenUpWhenItsTimeIsOver() throws IOException {
        InputStream trickle =
                new InputStream() {
                    @Override
                    public int read() {
                        return '1';
                    }

                    @Override
                    public int read(byte[] into, int offset, int length) {
                        into[offset] = '1';
                        return 1;
                    }
                };

        assertThat(intake.read(trickle, MIB, 1, System.nanoTime() + 1_000_000))
                .isEqualTo(new Read.TooLate());
        assertThat(everythingIsFree()).isTrue();
    }

    @Test
    void aBodyThatFindsNoMemoryByItsDeadlineIsTooLate() throws IOException {
        Read.Body first = body(intake.read(in(bytes(MIB)), MIB, 8, soon()));

        assertThat(intake.read(in(bytes(1)), 1, 1, System.nanoTime()))
                .isEqualTo(new Read.TooLate());

        intake.release(first);
        assertThat(everythingIsFree()).isTrue();
    }

    private boolean everythingIsFree() throws IOException {
        Read read = intake.read(in(bytes(MIB)), MIB, 1000, soon());
        if (read instanceof Read.Body body) {
            intake.release(body);
            return true;
        }
        return false;
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
