package io.gpusharing.timekeeper.ledger.posting;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.PeriodRule.Unit;
import io.gpusharing.testing.RandomSeeds;
import io.gpusharing.timekeeper.budget.Balances;
import io.gpusharing.timekeeper.budget.TestBudgets;
import io.gpusharing.timekeeper.budget.TestBudgets.Given;
import io.gpusharing.timekeeper.budget.TestBudgets.Written;
import io.gpusharing.timekeeper.budget.account.AccountStatement;
import io.gpusharing.timekeeper.budget.account.BudgetState;
import io.gpusharing.timekeeper.ledger.posting.PaperAccounts.Life;
import io.gpusharing.timekeeper.ledger.store.UsageRepository;
import io.gpusharing.timekeeper.testing.Pods;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;

/**
 * Days in which administrators change allowances, move namespaces, give grants and take them back,
 * also while the timekeeper is down; in which pods' ends are observed late, some of them after the
 * day's books were closed; and in which the process is killed and a second one posts beside it.
 * After each step every budget must stand as it does on paper.
 */
class AccountsSimulationTest {

    // Two days later summer time begins in Berlin.
    private static final Instant START = Instant.parse("2026-03-27T09:00:00Z");
    private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");
    private static final List<String> BUDGETS = List.of("a", "b");
    private static final List<String> NAMESPACES = List.of("n1", "n2", "n3", "n4");

    @ParameterizedTest
    @RandomSeeds(4)
    void everyBudgetAgreesWithPaperAccountsDespiteLateUsageAndKills(long seed) {
        var days = new Days(seed);

        days.live(120);

        days.everySpanOfThePastAddsUp();
        days.everyBalanceOfThePastIsKnown();
        days.everyStatementOfThePastLeadsFromOneBalanceToAnother();
        assertThat(days.ledger.differences()).isEmpty();
    }

    private static final class Days {

        private final Random random;
        private final PaperAccounts paper = new PaperAccounts(START, BERLIN);
        private final Map<String, Long> minutes = new HashMap<>(Map.of("a", 40L, "b", 300L));
        private final Map<String, String> owners = new TreeMap<>();
        private final Map<String, Given> grants = new TreeMap<>();
        private final List<Pods> running = new ArrayList<>();
        private final TestLedger ledger;
        private final TestLedger twin;
        private Balances balances;
        private int given;
        private int generation = 1;

        Days(long seed) {
            random = new Random(seed);
            owners.putAll(Map.of("n1", "a", "n2", "a", "n3", "b"));
            ledger = new TestLedger(START, budgets());
            twin = ledger.twin();
            balances = ledger.balances();
            known();
        }

        private Instant now() {
            return ledger.clock.instant();
        }

        private Written[] budgets() {
            return BUDGETS.stream().map(this::budget).toArray(Written[]::new);
        }

        private Written budget(String name) {
            return TestBudgets.budget(
                            name,
                            START,
                            Long.toString(Objects.requireNonNull(minutes.get(name))),
                            Unit.Day,
                            BERLIN.getId(),
                            PaperAccounts.MAX_ROLLOVER_MINUTES,
                            PaperAccounts.MAX_DEBT_PERCENT,
                            NAMESPACES.stream()
                                    .filter(it -> name.equals(owners.get(it)))
                                    .toArray(String[]::new))
                    .ofGeneration(generation);
        }

        private void known() {
            minutes.forEach((name, amount) -> paper.allow(name, GpuTime.ofMinutes("" + amount)));
            paper.assign(now(), owners);
        }

        void live(int steps) {
            for (int i = 0; i < steps; i++) {
                ledger.clock.pass(Duration.ofSeconds(random.nextInt(3000)));
                (random.nextInt(6) == 0 ? twin : ledger).pass(Duration.ZERO);
                paper.close(now());
                happen();
                (random.nextInt(6) == 0 ? twin : ledger).pass(Duration.ZERO);
                ledger.pass(Duration.ZERO);
                compare();
            }
        }

        private void happen() {
            switch (random.nextInt(16)) {
                case 0 -> {
                    if (random.nextBoolean()) {
                        otherAllowances();
                    } else {
                        move();
                    }
                    ledger.exist(budgets());
                    twin.exist(budgets());
                    known();
                }
                case 1 -> {
                    move();
                    boolean more = random.nextBoolean();
                    if (more) {
                        otherMinutes();
                    }
                    ledger.writtenMeanwhile(budgets());
                    ledger.clock.pass(Duration.ofSeconds(random.nextInt(3000)));
                    if (more) {
                        paper.closeAtOnce(now());
                    }
                    restart();
                    twin.exist(budgets());
                    known();
                    paper.close(now());
                }
                case 2 -> restart();
                case 3, 4, 5 -> give();
                case 6 -> takeBack();
                case 7, 8, 9, 10 -> end();
                default -> begin();
            }
        }

        private void restart() {
            ledger.restart();
            balances = ledger.balances();
        }

        private void otherAllowances() {
            // What has ended is closed by the terms it had.
            paper.closeAtOnce(now());
            otherMinutes();
        }

        private void otherMinutes() {
            generation++;
            minutes.put("a", 20L + random.nextInt(60));
            minutes.put("b", 200L + random.nextInt(300));
        }

        private void move() {
            generation++;
            String namespace = NAMESPACES.get(random.nextInt(NAMESPACES.size()));
            if (random.nextInt(4) == 0) {
                owners.remove(namespace);
            } else {
                owners.put(namespace, BUDGETS.get(random.nextInt(2)));
            }
        }

        private void give() {
            Instant midnight =
                    now().atZone(BERLIN).toLocalDate().plusDays(1).atStartOfDay(BERLIN).toInstant();
            Instant from =
                    random.nextInt(3) == 0 ? midnight : now().plusSeconds(random.nextInt(20_000));
            Instant expires =
                    random.nextBoolean() ? from.plusSeconds(1 + random.nextInt(100_000)) : null;
            var grant =
                    new Given(
                            "g" + given++,
                            BUDGETS.get(random.nextInt(2)),
                            Integer.toString(1 + random.nextInt(60)),
                            withParts(from),
                            expires == null ? null : withParts(expires));
            grants.put(grant.name(), grant);
            paper.give(grant);
            granted();
        }

        /** A grant may have parts of a second, which count for nothing. */
        private Instant withParts(Instant second) {
            return random.nextBoolean() ? second : second.plusMillis(random.nextInt(1000));
        }

        private void takeBack() {
            if (!grants.isEmpty()) {
                String one = List.copyOf(grants.keySet()).get(random.nextInt(grants.size()));
                grants.remove(one);
                paper.end(one, now());
                granted();
            }
        }

        private void granted() {
            ledger.grants(grants.values().toArray(Given[]::new));
            twin.grants(grants.values().toArray(Given[]::new));
        }

        private void begin() {
            String namespace = NAMESPACES.get(random.nextInt(NAMESPACES.size()));
            Pods pod = Pods.waiting(namespace, 100L * random.nextInt(1, 3), 0).boundAt(now());
            running.add(pod);
            observe(pod, null);
        }

        /** Often observed at once, sometimes later, also when the period is closed. */
        private void end() {
            if (!running.isEmpty()) {
                Pods pod = running.remove(random.nextInt(running.size()));
                Instant from = Objects.requireNonNull(pod.scheduled());
                int late = random.nextInt(4) == 0 ? random.nextInt(50_000) : 0;
                Instant actual = now().minusSeconds(late);
                Instant end = actual.isBefore(from) ? from : actual;
                observe(pod.finishedAt(end), end);
            }
        }

        private void observe(Pods pod, @Nullable Instant end) {
            ledger.onUpdate(pod);
            twin.onUpdate(pod);
            paper.observe(
                    pod.uid(),
                    new Life(
                            pod.namespace(),
                            pod.core() * 10_000,
                            Objects.requireNonNull(pod.scheduled()),
                            end));
        }

        private void compare() {
            for (String name : BUDGETS) {
                BudgetState state = ledger.budget(name);
                PaperAccounts.Balance expected = paper.balance(name, now());
                assertThat(
                                new PaperAccounts.Balance(
                                        state.period().start().isBefore(START)
                                                ? START
                                                : state.period().start(),
                                        state.used(now()).microGpuSeconds(),
                                        state.remaining(now()).orElseThrow().microGpuSeconds()))
                        .as("%s at %s", name, now())
                        .isEqualTo(expected);
            }
        }

        /** Whatever span is asked for, its use is there, from hours and entries. */
        void everySpanOfThePastAddsUp() {
            List.copyOf(running).forEach(pod -> end());
            ledger.pass(Duration.ofMinutes(1));
            paper.close(now());
            var usage = new UsageRepository(ledger.database.rows());
            long length = Duration.between(START, now()).toSeconds();
            for (int i = 0; i < 60; i++) {
                Instant from = START.plusSeconds(random.nextLong(length));
                Instant to =
                        from.plusSeconds(
                                random.nextLong(Duration.between(from, now()).toSeconds() + 1));
                for (String name : BUDGETS) {
                    assertThat(
                                    usage.posted(name, from, to).values().stream()
                                            .mapToLong(GpuTime::microGpuSeconds)
                                            .sum())
                            .as("%s from %s to %s", name, from, to)
                            .isEqualTo(paper.used(name, from, to, now()));
                }
            }
        }

        /** Also of closed days, by the terms they had; late usage is included. */
        void everyBalanceOfThePastIsKnown() {
            long length = Duration.between(START, now()).toSeconds();
            for (int i = 0; i < 40; i++) {
                Instant at = START.plusSeconds(random.nextLong(length));
                for (String name : BUDGETS) {
                    Balances.Balance known = balances.at(name, at).orElseThrow();
                    assertThat(known.remaining())
                            .as("left of %s at %s", name, at)
                            .isEqualTo(new GpuTime(paper.balance(name, at, now()).remaining()));
                }
            }
        }

        /** Wherever it begins and ends, in one period or over several. */
        void everyStatementOfThePastLeadsFromOneBalanceToAnother() {
            long length = Duration.between(START, now()).toSeconds();
            for (int i = 0; i < 40; i++) {
                Instant from = START.plusSeconds(random.nextLong(length));
                Instant to = from.plusSeconds(1 + random.nextInt(100_000));
                Instant end = to.isBefore(now()) ? to : now();
                for (String name : BUDGETS) {
                    Balances.Stretch stretch = balances.stretch(name, from, end).orElseThrow();
                    AccountStatement statement = Objects.requireNonNull(stretch.statement());
                    assertThat(statement.balance())
                            .as("left of %s after [%s, %s)", name, from, end)
                            .isEqualTo(new GpuTime(paper.balance(name, end, now()).remaining()));
                    assertThat(
                                    statement.opening().microGpuSeconds()
                                            + statement.changes().stream()
                                                    .mapToLong(
                                                            AccountStatement.BalanceChange::amount)
                                                    .sum()
                                            - stretch.total().microGpuSeconds())
                            .as("what %s opened with, was given and used", name)
                            .isEqualTo(statement.closing().microGpuSeconds());
                }
            }
        }
    }
}
