package io.gpusharing.timekeeper.usage.intake;

import static io.gpusharing.timekeeper.usage.intake.Reports.GPU;
import static io.gpusharing.timekeeper.usage.intake.Reports.NOON;
import static io.gpusharing.timekeeper.usage.intake.Reports.PROPERTIES;
import static io.gpusharing.timekeeper.usage.intake.Reports.pod;
import static io.gpusharing.timekeeper.usage.intake.Reports.sent;
import static io.gpusharing.timekeeper.usage.intake.Reports.sidecar;
import static io.gpusharing.timekeeper.usage.intake.Reports.use;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.timekeeper.usage.Counters;
import io.gpusharing.timekeeper.usage.UsageReport;
import io.gpusharing.timekeeper.usage.UsageReport.Basis;
import io.gpusharing.timekeeper.usage.UsageReport.DeviceUse;
import io.gpusharing.timekeeper.usage.intake.Outcome.Refusal;
import io.gpusharing.timekeeper.usage.intake.Outcome.Refused;
import io.gpusharing.timekeeper.usage.reporter.ReportingPod;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class CounterMergeTest {

    private static final Duration A_MINUTE = Duration.ofMinutes(1);

    private final UUID uid = UUID.randomUUID();
    private final UUID run = UUID.randomUUID();
    private final CounterMerge merge = merge();

    private static CounterMerge merge() {
        return new CounterMerge(List.of(), PROPERTIES);
    }

    private java.util.Optional<Refused> add(Duration after, UsageReport report) {
        return merge.add(sent(report, pod(uid), after));
    }

    private static long busy(CounterMerge merge) {
        return merge.changed().stream().mapToLong(Counters::gpuMicroseconds).sum();
    }

    static LongStream seeds() {
        return LongStream.rangeClosed(1, 200);
    }

    @Test
    void keepsTheLatestValuesOfCumulativeCounters() {
        add(A_MINUTE, sidecar(run, 1, uid, use(10, 30)));
        add(A_MINUTE, sidecar(run, 2, uid, use(20, 60)));

        assertThat(busy(merge)).isEqualTo(20_000_000);
    }

    @Test
    void aReportThatComesLateChangesNothing() {
        add(A_MINUTE, sidecar(run, 2, uid, use(20, 60)));
        add(A_MINUTE, sidecar(run, 1, uid, use(10, 30)));

        assertThat(busy(merge)).isEqualTo(20_000_000);
    }

    @Test
    void aReportWhoseCountersFallIsRefusedAndChangesNothing() {
        add(A_MINUTE, sidecar(run, 1, uid, use(20, 40)));

        assertThat(add(A_MINUTE, sidecar(run, 2, uid, use(21, 39))))
                .map(Refused::refusal)
                .contains(Refusal.COUNTERS_FELL);
        assertThat(add(A_MINUTE, sidecar(run, 3, uid, use(19, 41))))
                .map(Refused::refusal)
                .contains(Refusal.COUNTERS_FELL);
        assertThat(busy(merge)).isEqualTo(20_000_000);
    }

    @Test
    void aLateReportWithMoreThanItsSuccessorFellInBetween() {
        add(A_MINUTE, sidecar(run, 2, uid, use(20, 40)));

        assertThat(add(A_MINUTE, sidecar(run, 1, uid, use(30, 40))))
                .map(Refused::refusal)
                .contains(Refusal.COUNTERS_FELL);
    }

    @Test
    void theRunAfterOneThatFellIsTaken() {
        add(A_MINUTE, sidecar(run, 1, uid, use(20, 40)));
        add(A_MINUTE, sidecar(run, 2, uid, use(10, 20)));

        assertThat(add(A_MINUTE, sidecar(UUID.randomUUID(), 1, uid, use(1, 2)))).isEmpty();
        assertThat(busy(merge)).isEqualTo(21_000_000);
    }

    @Test
    void theAgeOfARunCountsFromItsLatestReportInAnyOrder() {
        for (int i = 0; i < 12; i++) {
            boolean late = i % 2 == 0;
            UUID begun = new UUID(7, i);
            add(
                    late ? Duration.ofMinutes(30) : A_MINUTE,
                    sidecar(begun, late ? 2 : 1, uid, use(0, 1)));
            add(
                    late ? A_MINUTE : Duration.ofMinutes(30),
                    sidecar(begun, late ? 1 : 2, uid, use(0, 1)));
        }

        assertThat(add(Duration.ofMinutes(62), sidecar(run, 1, uid, use(0, 1))))
                .as("an hour after the first report, half an hour after the last")
                .map(Refused::refusal)
                .contains(Refusal.TOO_MANY_RUNS);
        assertThat(merge.changed())
                .extracting(Counters::lastAt)
                .containsOnly(NOON.plus(Duration.ofMinutes(30)));
    }

    @Test
    void aTenantWhoInventsDevicesIsRefusedAfterAsManyAsItsPodCanHaveSeen() {
        for (int i = 0; i < 16; i++) {
            assertThat(add(A_MINUTE, sidecar(run, i, uid, use("GPU-" + i, 0, 1)))).isEmpty();
        }

        assertThat(add(A_MINUTE, sidecar(run, 16, uid, use("GPU-16", 0, 1))))
                .map(Refused::refusal)
                .contains(Refusal.TOO_MANY_DEVICES);
        assertThat(merge.changed()).hasSize(16);
    }

    @Test
    void aTenantWhoInventsRunsIsRefusedAfterTwelveWithinAnHour() {
        for (int i = 0; i < 12; i++) {
            assertThat(add(A_MINUTE, sidecar(UUID.randomUUID(), 1, uid, use(0, 1)))).isEmpty();
        }

        assertThat(add(A_MINUTE, sidecar(UUID.randomUUID(), 1, uid, use(0, 1))))
                .map(Refused::refusal)
                .contains(Refusal.TOO_MANY_RUNS);
        assertThat(add(Duration.ofMinutes(62), sidecar(UUID.randomUUID(), 1, uid, use(0, 1))))
                .as("an hour later one more is accepted")
                .isEmpty();
    }

    @Test
    void aNewRunAddsToTheOldOne() {
        add(A_MINUTE, sidecar(run, 9, uid, use(10, 30)));
        add(A_MINUTE, sidecar(UUID.randomUUID(), 1, uid, use(5, 20)));

        assertThat(busy(merge)).isEqualTo(15_000_000);
    }

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void everyOrderAndRepetitionOfTheSameReportsGivesTheSameCounters(long seed) {
        Random random = new Random(seed);
        var reports = new ArrayList<UsageReport>();
        for (int r = 0; r < 3; r++) {
            UUID someRun = new UUID(seed, r);
            double busy = 0;
            double covered = 0;
            for (int sequence = 1; sequence <= 5; sequence++) {
                covered += random.nextInt(10);
                busy = Math.min(covered, busy + random.nextInt(10));
                reports.add(sidecar(someRun, sequence, uid, use(busy, covered)));
            }
        }
        CounterMerge once = merge();
        reports.forEach(it -> once.add(sent(it, pod(uid), Duration.ofHours(1))));

        var shuffled = new ArrayList<>(reports);
        shuffled.addAll(reports.subList(0, random.nextInt(reports.size())));
        Collections.shuffle(shuffled, random);
        CounterMerge many = merge();
        shuffled.forEach(it -> many.add(sent(it, pod(uid), Duration.ofHours(1))));

        assertThat(List.copyOf(many.changed())).isEqualTo(List.copyOf(once.changed()));
    }

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void noSequenceOfForgedReportsExceedsTheElapsedTime(long seed) {
        Random random = new Random(seed);
        Duration now = Duration.ZERO;
        for (int i = 0; i < 60; i++) {
            now = now.plusSeconds(random.nextInt(20));
            double size = Math.pow(10, random.nextInt(14));
            double covered = random.nextDouble() * size;
            add(
                    now,
                    sidecar(
                            new UUID(seed, random.nextInt(3)),
                            random.nextInt(20),
                            uid,
                            use(
                                    "GPU-" + random.nextInt(3),
                                    random.nextDouble() * covered,
                                    covered)));

            long most = (now.toSeconds() + PROPERTIES.tolerance().toSeconds()) * 1_000_000;
            assertThat(busy(merge)).as("seed %d, step %d", seed, i).isLessThanOrEqualTo(most);
        }
    }

    @Nested
    class Refuses {

        @Test
        void aMillionSecondsAtOnce() {
            assertThat(add(A_MINUTE, sidecar(run, 1, uid, use(1_000_000, 1_000_000)))).isPresent();
            assertThat(merge.changed()).isEmpty();
        }

        @Test
        void twoRunsThatTogetherAreLongerThanThePodIs() {
            assertThat(add(A_MINUTE, sidecar(run, 1, uid, use(50, 60)))).isEmpty();
            assertThat(add(A_MINUTE, sidecar(UUID.randomUUID(), 1, uid, use(50, 60)))).isPresent();
        }

        @Test
        void moreBusyTimeThanWasMeasured() {
            assertThat(add(Duration.ofHours(1), sidecar(run, 1, uid, use(100, 60)))).isPresent();
        }

        @Test
        void moreGpusBusyAtOnceThanThePodHolds() {
            assertThat(
                            add(
                                    Duration.ofMinutes(10),
                                    sidecar(
                                            run,
                                            1,
                                            uid,
                                            use("GPU-a", 600, 600),
                                            use("GPU-b", 600, 600))))
                    .isPresent();
        }

        @Test
        void busyTimeThatWasNotMeasured() {
            DeviceUse made = new DeviceUse(GPU, Basis.Allocation, "no NVML", 1, null, 0, 1, 0);

            assertThat(add(A_MINUTE, sidecar(run, 1, uid, made))).isPresent();
        }

        @Test
        void moreMemoryThanAnyGpuHas() {
            DeviceUse vast =
                    new DeviceUse(GPU, Basis.Process, "", 0, null, Long.MAX_VALUE, 60_000_000, 0);

            assertThat(add(A_MINUTE, sidecar(run, 1, uid, vast))).isPresent();
        }

        @Test
        void sumsThatWouldWrap() {
            DeviceUse vast =
                    new DeviceUse(
                            GPU, Basis.Process, "", 0, null, 0, Long.MAX_VALUE, Long.MAX_VALUE);

            assertThat(add(A_MINUTE, sidecar(run, 1, uid, vast))).isPresent();
        }

        @Test
        void useBeforeThePodWasBound() {
            ReportingPod later = new ReportingPod(uid, "n1", NOON.plusSeconds(3600), 1, false);

            assertThat(
                            merge.add(
                                    sent(
                                            sidecar(run, 1, uid, use(20, 20)),
                                            later,
                                            Duration.ofMinutes(5))))
                    .isPresent();
        }
    }

    @Test
    void clocksThatDifferByAFewSecondsAreNoForgery() {
        assertThat(add(A_MINUTE, sidecar(run, 1, uid, use(65, 69)))).isEmpty();
    }

    @Test
    void aWholeNodeMayBeBusyOnAllItsGpus() {
        ReportingPod whole = new ReportingPod(uid, "n1", NOON, 2, false);

        assertThat(
                        merge.add(
                                sent(
                                        sidecar(
                                                run,
                                                1,
                                                uid,
                                                use("GPU-a", 60, 60),
                                                use("GPU-b", 60, 60)),
                                        whole,
                                        A_MINUTE)))
                .isEmpty();
    }
}
