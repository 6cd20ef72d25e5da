package io.gpusharing.timekeeper.usage.intake;

import static io.gpusharing.timekeeper.budget.TestBudgets.monthly;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.testing.RandomSeeds;
import io.gpusharing.timekeeper.allocation.UseRule;
import io.gpusharing.timekeeper.ledger.posting.TestLedger;
import io.gpusharing.timekeeper.testing.Pods;
import io.gpusharing.timekeeper.usage.AgentMeasurements;
import io.gpusharing.timekeeper.usage.UsageReport;
import io.gpusharing.timekeeper.usage.UsageReport.PodUse;
import io.gpusharing.timekeeper.usage.intake.ReportAuthorizer.Entry.Admitted;
import io.gpusharing.timekeeper.usage.reporter.Reporter;
import io.gpusharing.timekeeper.usage.reporter.ReportingPod;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.params.ParameterizedTest;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Hours in which a node agent restarts, repeats and loses reports, and a tenant reports anything
 * with the tokens of its own pods, from the HTTP request to the ledger. Budgets charge by measured
 * use, so every forged report that is believed would cost or save GPU time.
 */
class ForgedReportsSimulationTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");
    private static final UseRule RULE = new UseRule(10);

    @ParameterizedTest
    @RandomSeeds(5)
    void aChargeIsWhatTheAgentMeasuredWithinFloorAndShareWhateverATenantReports(long seed) {
        new Hours(seed).live();
    }

    private static final class Hours {

        private final Random random;
        private final TestLedger ledger =
                new TestLedger(
                        TEN,
                        monthly("honest", TEN, "6000", "team-a").byUse(),
                        monthly("forger", TEN, "6000", "team-b").byUse());
        private final UsageReportRepository reports =
                new UsageReportRepository(
                        ledger.database.rows(),
                        new TransactionTemplate(ledger.database.transactions()),
                        Reports.PROPERTIES);
        private final ReportAuthorizer authorizer =
                new ReportAuthorizer("gpusharing-system/gpusharing-node-agent");
        private final List<Pods> pods = new ArrayList<>();
        private final Map<UUID, Meter> measured = new HashMap<>();
        private UUID run = UUID.randomUUID();
        private int sequence;

        /** What the agent has measured of a pod, in its present run and in those before. */
        private static final class Meter {

            private double busy;
            private double covered;

            /** What was received of this run, and of those before. */
            private long reportedBusy;

            private long reportedCovered;
            private long earlierBusy;
            private long earlierCovered;

            void received() {
                reportedBusy = (long) (busy * 1e6);
                reportedCovered = (long) (covered * 1e6);
            }

            void restarted() {
                earlierBusy += reportedBusy;
                earlierCovered += reportedCovered;
                busy = 0;
                covered = 0;
                reportedBusy = 0;
                reportedCovered = 0;
            }
        }

        Hours(long seed) {
            random = new Random(seed);
            ledger.measuredBy(new AgentMeasurements(ledger.database.rows()));
            ledger.restart();
            for (int i = 0; i < 6; i++) {
                Pods pod =
                        Pods.waiting(i < 3 ? "team-a" : "team-b", 10L + random.nextInt(90), 1)
                                .boundAt(TEN);
                pods.add(pod);
                ledger.onUpdate(pod);
                // The agent never reports one pod of each team.
                if (i % 3 > 0) {
                    measured.put(pod.uid(), new Meter());
                }
            }
        }

        private Instant now() {
            return ledger.clock.instant();
        }

        void live() {
            while (now().isBefore(TEN.plus(Duration.ofHours(3)))) {
                int seconds = 1 + random.nextInt(400);
                ledger.pass(Duration.ofSeconds(seconds));
                measured.values().forEach(it -> measure(it, seconds));
                switch (random.nextInt(8)) {
                    case 0 -> {
                        run = UUID.randomUUID();
                        measured.values().forEach(Meter::restarted);
                    }
                    case 1 -> ledger.restart();
                    case 2, 3, 4 -> agentReports();
                    default -> {}
                }
                for (int i = random.nextInt(4); i > 0; i--) {
                    forge();
                }
            }
            agentReports();
            Instant end = now();
            pods.forEach(pod -> ledger.onUpdate(pod.finishedAt(end)));
            ledger.pass(Duration.ofMinutes(11));
            pods.forEach(pod -> check(pod, Duration.between(TEN, end).toSeconds()));
            assertThat(ledger.differences()).isEmpty();
        }

        private void measure(Meter meter, int seconds) {
            double covered = random.nextInt(3) == 0 ? seconds : random.nextDouble() * seconds;
            meter.covered += covered;
            meter.busy += random.nextInt(3) == 0 ? 0 : random.nextDouble() * covered;
        }

        /** Sometimes its answer is lost, and it sends the same again. */
        private void agentReports() {
            var sent = new ArrayList<PodUse>();
            measured.forEach((uid, meter) -> {
                sent.add(new PodUse(uid, List.of(Reports.use(meter.busy, meter.covered))));
                meter.received();
            });
            UsageReport report = Reports.agent(run, ++sequence, sent.toArray(PodUse[]::new));
            for (int i = 1 + random.nextInt(2); i > 0; i--) {
                take(Reports.agentOn(Pods.NODE), report);
            }
        }

        /** With the token of one of its pods a tenant reports any pod, as any meter. */
        private void forge() {
            Pods own = pods.get(3 + random.nextInt(3));
            Pods victim = random.nextBoolean() ? own : pods.get(random.nextInt(pods.size()));
            double covered = Math.pow(10, random.nextInt(9)) * random.nextDouble();
            var use = Reports.use(random.nextDouble() * covered, covered);
            UUID someRun = random.nextInt(3) == 0 ? run : UUID.randomUUID();
            long number = random.nextInt(100);
            UsageReport report =
                    random.nextBoolean()
                            ? Reports.sidecar(someRun, number, victim.uid(), use)
                            : Reports.agent(
                                    someRun, number, new PodUse(victim.uid(), List.of(use)));
            take(Reports.sidecarOf(own.uid()), report);
        }

        private void take(Reporter reporter, UsageReport report) {
            ReportAuthorizer.Entry entry =
                    authorizer.judge(
                            reporter,
                            report,
                            Reports.watched(
                                    uid ->
                                            Optional.of(
                                                    new ReportingPod(
                                                            uid, Pods.NODE, TEN, 1, false)),
                                    true),
                            now());
            if (entry instanceof Admitted(Delivery delivery)) {
                reports.post(List.of(delivery));
            }
        }

        private void check(Pods pod, long held) {
            long share = pod.core() * 10_000;
            Meter meter = measured.get(pod.uid());
            long charged = ledger.charged(pod).microGpuSeconds();
            if (meter == null) {
                assertThat(charged).isEqualTo(share * held);
                return;
            }
            long due =
                    RULE.due(
                                    share,
                                    share,
                                    held,
                                    meter.earlierCovered + meter.reportedCovered,
                                    meter.earlierBusy + meter.reportedBusy)
                            .microGpuSeconds();
            // Less than a micro-GPU over the last entry remains.
            assertThat(charged).isBetween(due - 3600, due + 3600);
            assertThat(charged).isBetween(share * held / 10 - 3600, share * held);
        }
    }
}
