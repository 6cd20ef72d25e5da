package io.gpusharing.webhook.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpusharing.budget.GpuBudgetSpec.OnExhausted;
import io.gpusharing.web.HeapParts;
import io.gpusharing.webhook.admission.AdmissionMetrics;
import io.gpusharing.webhook.admission.AdmissionProperties;
import io.gpusharing.webhook.admission.Installation;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.util.unit.DataSize;

/** Long reviews may wait for each other; no other review waits for them. */
class LongReviewsTest {

    private static final int LONGEST = 8 * 1024 * 1024;

    private final AdmissionServlet servlet =
            new AdmissionServlet(
                    new Installation().budget("1000", OnExhausted.LowerPriority).admission(),
                    new AdmissionMetrics(new SimpleMeterRegistry()),
                    new AdmissionProperties(
                            64,
                            Duration.ofSeconds(30),
                            DataSize.ofBytes(LONGEST),
                            Duration.ZERO,
                            false),
                    HeapShares.of(new HeapParts(128 << 20)));

    @Test
    void stalledLongBodiesHoldNoMemoryOfUsualReviews() throws Exception {
        var over = new CountDownLatch(1);
        var stalled = new ArrayList<Thread>();
        for (int i = 0; i < 4; i++) {
            stalled.add(Thread.ofPlatform().daemon().start(() -> post(new Stalling(over))));
        }
        await().until(() -> stalled.stream().allMatch(LongReviewsTest::waits));

        var usual = new MockHttpServletRequest("POST", "/mutate");
        usual.setQueryString("timeout=1s");
        usual.setContent(new byte[7_000]);
        MockHttpServletResponse answer = post(usual);

        // It is read, and is no review.
        assertThat(answer.getStatus()).isEqualTo(400);
        over.countDown();
    }

    private MockHttpServletResponse post(MockHttpServletRequest request) {
        request.setServletPath("/mutate");
        var response = new MockHttpServletResponse();
        try {
            servlet.service(request, response);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return response;
    }

    private static boolean waits(Thread thread) {
        return thread.getState() == Thread.State.WAITING
                || thread.getState() == Thread.State.TIMED_WAITING;
    }

    /** A body of which everything comes but the last byte. */
    private static final class Stalling extends MockHttpServletRequest {

        private final CountDownLatch over;
        private int left = LONGEST - 1;

        Stalling(CountDownLatch over) {
            super("POST", "/mutate");
            this.over = over;
        }

        @Override
        public int getContentLength() {
            return LONGEST;
        }

        @Override
        public long getContentLengthLong() {
            return LONGEST;
        }

        @Override
        public ServletInputStream getInputStream() {
            return new ServletInputStream() {
                @Override
                public int read() {
                    throw new UnsupportedOperationException("nobody reads byte by byte");
                }

                @Override
                public int read(byte[] into, int from, int length) {
                    if (left == 0) {
                        awaitQuietly(over);
                        return -1;
                    }
                    int some = Math.min(length, left);
                    left -= some;
                    return some;
                }

                @Override
                public boolean isFinished() {
                    return false;
                }

                @Override
                public boolean isReady() {
                    return true;
                }

                @Override
                public void setReadListener(ReadListener listener) {
                    throw new UnsupportedOperationException("read as it comes");
                }
            };
        }

        private static void awaitQuietly(CountDownLatch latch) {
            try {
                latch.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
