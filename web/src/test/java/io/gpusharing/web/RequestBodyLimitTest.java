package io.gpusharing.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.testing.SteppingClock;
import io.gpusharing.web.RequestBodyLimit.Body;
import io.gpusharing.web.RequestBodyLimit.Place;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.springframework.util.unit.DataSize;

class RequestBodyLimitTest {

    private final SteppingClock clock = new SteppingClock(Instant.parse("2026-03-02T12:00:00Z"));
    private final RequestBodyLimit bodies =
            new RequestBodyLimit(DataSize.ofBytes(100), Duration.ofSeconds(10), clock);

    private Place enter(int size) {
        return Objects.requireNonNull(bodies.enter(size));
    }

    @Test
    void thereIsRoomForSoMuchAndNoMoreHoweverManyCome() {
        Place first = enter(60);

        assertThat(bodies.enter(60)).isNull();

        first.close();
        try (Place second = enter(60)) {
            assertThat(second).isNotNull();
            assertThat(bodies.free()).isEqualTo(40);
        }
        assertThat(bodies.free()).isEqualTo(100);
    }

    @Test
    void aBodyThatIsLargerThanItSaidIsNotRead() throws IOException {
        try (Place place = enter(4)) {
            assertThat(place.read(new ByteArrayInputStream(new byte[5])))
                    .isInstanceOf(Body.TooLarge.class);
        }
    }

    @Test
    void whoSendsByteByByteIsNotWaitedForLongerThanTheDeadline() throws IOException {
        var drip =
                new InputStream() {
                    @Override
                    public int read() {
                        clock.pass(Duration.ofSeconds(3));
                        return 'x';
                    }

                    @Override
                    public int read(byte[] bytes, int from, int length) {
                        bytes[from] = (byte) read();
                        return 1;
                    }
                };

        try (Place place = enter(100)) {
            assertThat(place.read(drip)).isInstanceOf(Body.TooSlow.class);
        }
    }
}
