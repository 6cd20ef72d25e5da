package io.gpusharing.sidecar.meter;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.sidecar.usage.Basis;
import org.junit.jupiter.api.Test;

class PodCountersTest {

    private static final long SECOND = 1_000_000;

    /** 300 s of 141 GB are more than a number holds, and nobody would take the report. */
    @Test
    void memoryIsNotHeldBetweenTwoTries() {
        var pod = new PodCounters("uid");
        pod.noteLife(SECOND, 2 * SECOND);
        pod.settle(Basis.PROCESS, 2 * SECOND, 2 * SECOND, 302 * SECOND);
        pod.memoryBytes = 141L << 30;

        pod.noteLife(303 * SECOND, 303 * SECOND);

        assertThat(pod.lives()).isTrue();
        assertThat(pod.snapshot().coveredMicros()).isEqualTo(300 * SECOND);
        assertThat(pod.snapshot().memoryByteSeconds()).isZero();
    }
}
