package io.gpusharing.sidecar.meter;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.nvml.NvmlLibrary;
import io.gpusharing.nvml.fake.FakeNvml;
import io.gpusharing.nvml.fake.Scenario;
import io.gpusharing.nvml.fake.VirtualTime;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GpuEventsTest {

    private final VirtualTime time = new VirtualTime();
    private int changes;

    private GpuEvents events(String... lines) {
        return events(new FakeNvml(Scenario.parse(String.join("\n", lines)), time));
    }

    private GpuEvents events(FakeNvml fake) {
        return new GpuEvents(() -> new NvmlLibrary.Found(fake, "fake"), () -> changes++);
    }

    @Test
    @DisplayName("case 46: XIDs are counted per GPU")
    void case46_criticalErrorsAreCountedPerGpu() {
        GpuEvents events =
                events(
                        "device GPU-1",
                        "device GPU-2",
                        "event device=0 data=79 at=1s",
                        "event device=1 data=31 at=2s",
                        "event device=0 data=79 at=3s");

        for (int i = 0; i < 6; i++) {
            assertThat(events.round()).isTrue();
        }

        assertThat(events.counts())
                .isEqualTo(
                        Map.of(
                                new GpuEvents.Xid("GPU-1", 79), 2L,
                                new GpuEvents.Xid("GPU-2", 31), 1L));
        assertThat(changes).isEqualTo(3);
    }

    @Test
    @DisplayName("case 46: a change of MIG lets devices be searched for")
    void case46_aChangeOfMigIsToldAndIsNoError() {
        GpuEvents events = events("device GPU-1", "event type=256");

        events.round();

        assertThat(changes).isEqualTo(1);
        assertThat(events.counts()).isEmpty();
    }

    @Test
    @DisplayName("case 46: silence takes its time")
    void case46_silenceIsNoBusyLoop() {
        GpuEvents events = events("device GPU-1");
        long before = time.monotonicMicros();

        for (int i = 0; i < 10; i++) {
            events.round();
        }

        assertThat(time.monotonicMicros() - before).isEqualTo(50_000_000);
        assertThat(changes).isZero();
    }

    @ParameterizedTest(name = "case 46: {0}")
    @ValueSource(
            strings = {
                "fail nvmlInit_v2 9",
                "fail nvmlEventSetCreate 3",
                "fail nvmlEventSetWait_v2 999",
                "without nvmlEventSetWait_v2"
            })
    void case46_whereEventsCannotBeWaitedForTheCallerIsToldToPause(String fault) {
        assertThat(events("device GPU-1", fault).round()).isFalse();
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"fail nvmlEventSetCreate 3", "fail nvmlEventSetWait_v2 999"})
    void whereEventsCannotBeWaitedForNvmlIsLetGoOf(String fault) {
        FakeNvml fake = new FakeNvml(Scenario.parse("device GPU-1\n" + fault), time);
        GpuEvents events = events(fake);

        for (int i = 0; i < 3; i++) {
            events.round();
        }

        assertThat(fake.calls("nvmlInit_v2")).isEqualTo(3);
        assertThat(fake.calls("nvmlShutdown")).isEqualTo(3);
    }
}
