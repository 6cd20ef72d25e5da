package io.gpusharing.nvml;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.nvml.fake.FakeNvml;
import io.gpusharing.nvml.fake.Scenario;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What GPUs report by themselves. */
class EventsTest {

    private final FakeNvml fake =
            new FakeNvml(
                    Scenario.parse("device GPU-0\ndevice GPU-1\ndevice GPU-old events=8"),
                    TimeSource.SYSTEM);
    private final Nvml nvml = new Nvml(fake);
    private long set;

    @BeforeEach
    void aSetOfEvents() {
        assertThat(nvml.init()).isEqualTo(NvmlReturn.SUCCESS);
        assertThat(nvml.eventSetCreate()).isEqualTo(NvmlReturn.SUCCESS);
        set = nvml.handle();
    }

    private long device(int index) {
        assertThat(nvml.deviceByIndex(index)).isEqualTo(NvmlReturn.SUCCESS);
        return nvml.handle();
    }

    @Test
    void anErrorEndsTheWaitingOfAnotherThread() throws Exception {
        long second = device(1);
        nvml.registerEvents(second, Nvml.XID_CRITICAL_ERROR | Nvml.DOUBLE_BIT_ECC_ERROR, set);

        CompletableFuture<NvmlReturn> waiting =
                CompletableFuture.supplyAsync(() -> nvml.waitForEvent(set, 60_000));
        while (nvml.inside() != NvmlCall.EVENT_SET_WAIT) {
            Thread.onSpinWait();
        }
        fake.raise(1, Nvml.XID_CRITICAL_ERROR, 79);

        assertThat(waiting.get(10, TimeUnit.SECONDS)).isEqualTo(NvmlReturn.SUCCESS);
        assertThat(nvml.handle()).isEqualTo(second);
        assertThat(nvml.eventType()).isEqualTo(Nvml.XID_CRITICAL_ERROR);
        assertThat(nvml.eventData()).isEqualTo(79);
    }

    @Test
    void whatNobodyRegisteredForIsNotReported() {
        fake.raise(0, Nvml.XID_CRITICAL_ERROR, 79);
        nvml.registerEvents(device(0), Nvml.XID_CRITICAL_ERROR, set);
        fake.raise(0, Nvml.DOUBLE_BIT_ECC_ERROR, 0);
        fake.raise(1, Nvml.XID_CRITICAL_ERROR, 79);

        assertThat(nvml.waitForEvent(set, 1)).isEqualTo(NvmlReturn.TIMEOUT);
    }

    @Test
    void oneTypeThatAGpuCannotReportKeepsTheOthersOutToo() {
        long old = device(2);
        long wanted = Nvml.XID_CRITICAL_ERROR | Nvml.DOUBLE_BIT_ECC_ERROR;

        assertThat(nvml.registerEvents(old, wanted, set)).isEqualTo(NvmlReturn.NOT_SUPPORTED);
        fake.raise(2, Nvml.XID_CRITICAL_ERROR, 79);
        assertThat(nvml.waitForEvent(set, 1)).isEqualTo(NvmlReturn.TIMEOUT);

        assertThat(nvml.supportedEvents(old)).isEqualTo(NvmlReturn.SUCCESS);
        assertThat(nvml.registerEvents(old, wanted & nvml.eventTypes(), set))
                .isEqualTo(NvmlReturn.SUCCESS);
        fake.raise(2, Nvml.XID_CRITICAL_ERROR, 79);
        assertThat(nvml.waitForEvent(set, 1)).isEqualTo(NvmlReturn.SUCCESS);
    }

    @Test
    void aSetThatIsGivenBackReportsNothing() {
        nvml.registerEvents(device(0), Nvml.XID_CRITICAL_ERROR, set);

        assertThat(nvml.eventSetFree(set)).isEqualTo(NvmlReturn.SUCCESS);
        fake.raise(0, Nvml.XID_CRITICAL_ERROR, 79);

        nvml.eventSetCreate();
        assertThat(nvml.waitForEvent(nvml.handle(), 1)).isEqualTo(NvmlReturn.TIMEOUT);
    }
}
