package io.gpusharing.timekeeper.ledger.posting;

import static io.gpusharing.timekeeper.budget.TestBudgets.monthly;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.PeriodRule.Unit;
import io.gpusharing.testing.RandomSeeds;
import io.gpusharing.timekeeper.budget.TestBudgets.Given;
import io.gpusharing.timekeeper.budget.TestBudgets.Written;
import io.gpusharing.timekeeper.testing.Pods;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;

/**
 * Days in which the timekeeper's clock jumps, administrators change budgets, time zones and grants,
 * events come twice, processes are killed and a second one posts beside the first. The API server's
 * timestamps go on as they are.
 */
class InvariantsTest {

    private static final Instant START = Instant.parse("2026-03-27T09:00:00Z");

    @ParameterizedTest
    @RandomSeeds(6)
    void everyPodIsChargedItsLifeAndNoEntryEverChanges(long seed) {
        new World(seed).live(150);
    }

    /** A clock that had been ahead had dated terms after those that followed them. */
    @Test
    void aStartAfterTheClockWentBackClosesADayByTheSameTerms() {
        new World(5031125234671405935L).live(150);
    }

    private static final class World {

        private final Random random;
        private int generation = 1;
        private int given;
        private final TestLedger ledger = new TestLedger(START, budget("100", "UTC"));
        private final TestLedger twin;
        private final List<Pods> running = new ArrayList<>();
        private final Map<Pods, Instant> ends = new HashMap<>();
        private Instant now = START;
        private Duration skew = Duration.ZERO;
        private Set<String> entries = Set.of();
        private Set<String> periods = Set.of();

        World(long seed) {
            random = new Random(seed);
            twin = ledger.twin();
        }

        private Written budget(String minutes, String zone) {
            return monthly("a", START, minutes, "team-a")
                    .every(Unit.Day, zone, "2026-01-01T00:00:00")
                    .ofGeneration(generation++);
        }

        void live(int steps) {
            for (int i = 0; i < steps; i++) {
                now = now.plusSeconds(random.nextInt(3600));
                ledger.clock.set(now.plus(skew));
                happen();
                (random.nextInt(6) == 0 ? twin : ledger).pass(Duration.ZERO);
                nothingWrittenHasChanged();
            }
            skew = Duration.ZERO;
            ledger.clock.set(now);
            List.copyOf(running).forEach(this::end);
            ledger.pass(Duration.ofMinutes(1));
            everyPodIsChargedItsLife();
            everySecondOfALifeIsChargedAtItsRateAndNoOther();
            assertThat(ledger.differences()).isEmpty();
            whoeverReadsTheLedgerAnewComesToTheSame();
        }

        private void happen() {
            switch (random.nextInt(12)) {
                case 0 -> skew = Duration.ofSeconds(random.nextInt(172_800) - 86_400);
                case 1 -> skew = Duration.ZERO;
                case 2 -> ledger.restart();
                case 3 -> {
                    Written edited =
                            budget(
                                    Integer.toString(random.nextInt(300)),
                                    random.nextBoolean() ? "Europe/Berlin" : "Asia/Tokyo");
                    ledger.exist(edited);
                    twin.exist(edited);
                }
                case 4 -> ledger.grants(new Given("g" + given++, "a", "30", now));
                case 5, 6, 7 -> {
                    if (!running.isEmpty()) {
                        end(running.get(random.nextInt(running.size())));
                    }
                }
                default -> {
                    long core = 1L + random.nextInt(99);
                    Pods pod = Pods.waiting("team-a", core, 1 + random.nextInt(60)).boundAt(now);
                    running.add(pod);
                    observe(pod);
                }
            }
        }

        private void end(Pods pod) {
            running.remove(pod);
            ends.put(pod, now);
            observe(pod.finishedAt(now));
        }

        /** Sometimes twice, sometimes to both. */
        private void observe(Pods pod) {
            ledger.onUpdate(pod);
            if (random.nextInt(4) == 0) {
                ledger.onUpdate(pod);
            }
            if (random.nextInt(4) == 0) {
                twin.onUpdate(pod);
            }
        }

        private void everyPodIsChargedItsLife() {
            ends.forEach((pod, end) -> {
                long seconds = Duration.between(pod.scheduled(), end).toSeconds();
                long rate = Math.max(pod.core() * 10_000, pod.memory() * 1_000_000 / 60);
                assertThat(ledger.charged(pod)).isEqualTo(new GpuTime(rate * seconds));
            });
        }

        /**
         * Charges and corrections together, between any two instants at which one of them begins.
         */
        private void everySecondOfALifeIsChargedAtItsRateAndNoOther() {
            assertThat(
                            rows(
                                    """
                                    with entry as (
                                        select pod_uid, charged_from as since, charged_to as until, rate from charge
                                        union all
                                        select pod_uid, charged_from, charged_to, rate from correction),
                                    cut as (
                                        select pod_uid, since as at from entry union
                                        select pod_uid, until from entry union
                                        select pod_uid, held_from from pod_allocation),
                                    net as (
                                        select c.pod_uid, c.at, coalesce(sum(e.rate), 0) as rate
                                        from cut c left join entry e
                                          on e.pod_uid = c.pod_uid and e.since <= c.at and c.at < e.until
                                        group by c.pod_uid, c.at)
                                    select concat_ws(' ', n.pod_uid, n.at, n.rate) from net n join pod_allocation s using (pod_uid)
                                    where n.rate <> case when n.at >= s.held_from and n.at < s.held_until
                                                         then s.rate else 0 end
                                    """))
                    .isEmpty();
        }

        private void nothingWrittenHasChanged() {
            Set<String> written = rows("select charge::text from charge");
            written.addAll(rows("select correction::text from correction"));
            Set<String> opened = rows("select budget_period::text from budget_period");
            assertThat(written).containsAll(entries);
            assertThat(opened).containsAll(periods);
            entries = written;
            periods = opened;
        }

        private Set<String> rows(String sql) {
            return new HashSet<>(ledger.database.jdbc().sql(sql).query(String.class).list());
        }

        private void whoeverReadsTheLedgerAnewComesToTheSame() {
            GpuTime used = ledger.used("a");
            var remaining = ledger.budget("a").remaining(ledger.clock.instant());
            var period = ledger.budget("a").period();

            ledger.restart();

            assertThat(ledger.used("a")).isEqualTo(used);
            assertThat(ledger.budget("a").remaining(ledger.clock.instant())).isEqualTo(remaining);
            assertThat(ledger.budget("a").period()).isEqualTo(period);
        }
    }
}
