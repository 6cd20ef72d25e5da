package io.gpusharing.timekeeper.ledger.store;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.Period;
import io.gpusharing.budget.PeriodRule;
import io.gpusharing.budget.PeriodRule.Unit;
import io.gpusharing.kubernetes.PodFacts;
import io.gpusharing.kubernetes.PodReader;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.request.grammar.VcudaGrammar;
import io.gpusharing.testing.AccountingTable;
import io.gpusharing.testing.AccountingTable.Charged;
import io.gpusharing.testing.PodGenerator;
import io.gpusharing.testing.RandomSeeds;
import io.gpusharing.testing.RecordedLife;
import io.gpusharing.testing.RecordedLife.Version;
import io.gpusharing.testing.SteppingClock;
import io.gpusharing.timekeeper.allocation.Weights;
import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.budget.TestBudgets;
import io.gpusharing.timekeeper.budget.TestBudgets.Written;
import io.gpusharing.timekeeper.budget.account.BudgetState;
import io.gpusharing.timekeeper.cluster.ClusterViews;
import io.gpusharing.timekeeper.cluster.PodEvent;
import io.gpusharing.timekeeper.ledger.LedgerProperties;
import io.gpusharing.timekeeper.ledger.OutOfStepException;
import io.gpusharing.timekeeper.ledger.posting.LedgerInput;
import io.gpusharing.timekeeper.ledger.posting.ModelWeights;
import io.gpusharing.timekeeper.ledger.posting.PostingRound;
import io.gpusharing.timekeeper.ledger.posting.Settlement;
import io.gpusharing.timekeeper.ledger.posting.Verifications;
import io.gpusharing.timekeeper.testing.FlakyTransactions;
import io.gpusharing.timekeeper.testing.Pods;
import io.gpusharing.timekeeper.testing.TestDatabase;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.params.ParameterizedTest;
import org.springframework.dao.DataAccessException;

/**
 * Days of a cluster in which pods live recorded lives at other times, events are late, the database
 * fails at every point of a transaction and the process is killed. In the end the ledger must say
 * what the table of lives says, to the micro-GPU-second.
 */
class LedgerSimulationTest {

    private static final Instant START = Instant.parse("2026-03-27T21:17:05Z");
    private static final LedgerProperties PROPERTIES =
            new LedgerProperties(
                    Duration.ofSeconds(30),
                    Duration.ofSeconds(1),
                    Duration.ofSeconds(10),
                    java.time.Period.ZERO,
                    Duration.ofMinutes(10),
                    10,
                    3);

    /** Events may come later than any period is open. */
    private static final Duration NEVER_CLOSED = Duration.ofDays(100);

    private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");

    // Two days of them reach over the change to summer time.
    private static final List<Written> BUDGETS =
            List.of(
                    TestBudgets.budget(
                            "a", START, "40", Unit.Day, "Europe/Berlin", "10", 25, "a-1", "a-2"),
                    TestBudgets.budget("b", START, null, Unit.Month, "UTC", "0", 25, "b"));

    private static final PodReader READER = new PodReader(name -> name.startsWith("tencent.com/"));
    private static final KubernetesSerialization SERIALIZATION = new KubernetesSerialization();

    @ParameterizedTest
    @RandomSeeds(6)
    void theLedgerAlwaysAgreesWithTheLivesOfThePods(long seed) {
        Simulation simulation = new Simulation(seed);

        simulation.live(Duration.ofHours(60));

        simulation.everyPodIsChargedItsLife();
        simulation.entriesOfAPodNeverOverlap();
        simulation.hoursAreTheSumsOfTheirEntries();
        simulation.budgetsAddUpDayByDay();
        simulation.theLedgerIsSound();
    }

    private static PodFacts facts(Version version) {
        return READER.read(SERIALIZATION.unmarshal(version.pod().toString(), Pod.class));
    }

    /** What the API server sent, in its order. */
    private record Sent(Version version, PodFacts pod) {}

    private static final class Simulation {

        private final Random random;
        private final SteppingClock clock = new SteppingClock(START);
        private final TestDatabase database = TestDatabase.create();
        private final List<Sent> history = new ArrayList<>();
        private final Map<UUID, PodFacts> present = new HashMap<>();
        private final Map<UUID, RecordedLife> lives = new HashMap<>();
        private final PriorityQueue<Version> ahead =
                new PriorityQueue<>(Comparator.comparing(Version::at));
        private final PodGenerator generator;
        private int delivered;
        private Budgets budgets;
        private PostingRound round;

        Simulation(long seed) {
            random = new Random(seed);
            generator = new PodGenerator(random, Duration.ofMinutes(15));
            budgets = TestBudgets.on(database, NEVER_CLOSED, clock);
            round = start();
        }

        private PostingRound start() {
            budgets = TestBudgets.on(database, NEVER_CLOSED, clock);
            var ledger = new Ledger(database.rows(), new FlakyTransactions(database, random, 0.02));
            var started =
                    new PostingRound(
                            ledger,
                            budgets,
                            budgets,
                            ClusterViews.withNode(),
                            new RequestGrammars(List.of(new VcudaGrammar())),
                            new ModelWeights(Weights.EQUAL, new SimpleMeterRegistry()),
                            new Settlement(ledger, pods -> Map.of(), budgets, PROPERTIES),
                            PROPERTIES,
                            clock);
            var events = new ArrayDeque<LedgerInput>();
            events.add(new LedgerInput.Task(() -> TestBudgets.exist(budgets, BUDGETS)));
            String position = ledger.open(started.now()).position();
            delivered = position == null ? history.size() : Integer.parseInt(position);
            events.add(
                    new LedgerInput.Pods(
                            new PodEvent.Listed(
                                    List.copyOf(present.values()),
                                    Set.of(),
                                    Integer.toString(history.size()),
                                    position != null,
                                    clock.instant())));
            post(started, events);
            return started;
        }

        void live(Duration length) {
            Instant end = START.plus(length);
            while (clock.instant().isBefore(end)) {
                clock.pass(Duration.ofMillis(random.nextInt(800_000)));
                happen();
                if (random.nextInt(3) > 0) {
                    deliver(random.nextInt(1 + history.size() - delivered));
                }
                if (random.nextInt(40) == 0) {
                    round = start();
                }
            }
            while (!ahead.isEmpty()) {
                clock.pass(Duration.ofMinutes(10));
                happened();
            }
            deliver(history.size() - delivered);
            clock.pass(Duration.ofMinutes(1));
            post(round, new ArrayDeque<>());
        }

        private void happen() {
            if (ahead.size() < 60) {
                List<RecordedLife> all = RecordedLife.all();
                RecordedLife life =
                        generator.again(
                                all.get(random.nextInt(all.size())),
                                List.of("a-1", "a-2", "b", "nobody").get(random.nextInt(4)),
                                round.now());
                long core = random.nextInt(4) == 0 ? 200 : 1 + random.nextInt(99);
                long memory = core < 100 ? 1 + random.nextInt(60) : 0;
                life.versions().forEach(version -> asksFor(core, memory, version.pod()));
                lives.put(facts(life.last()).uid(), life);
                ahead.addAll(life.versions());
            }
            happened();
        }

        /** What has happened until now. */
        private void happened() {
            while (!ahead.isEmpty() && !ahead.peek().at().isAfter(clock.instant())) {
                Version version = ahead.remove();
                PodFacts pod = facts(version);
                history.add(new Sent(version, pod));
                if (version.removed()) {
                    present.remove(pod.uid());
                } else {
                    present.put(pod.uid(), pod);
                }
            }
        }

        private static void asksFor(long core, long memory, JsonNode pod) {
            if (pod.at("/spec/nodeName").isTextual()) {
                ((ObjectNode) pod.path("spec")).put("nodeName", Pods.NODE);
            }
            for (JsonNode container : pod.at("/spec/containers")) {
                var resources = (ObjectNode) container.path("resources");
                for (String amounts : List.of("limits", "requests")) {
                    resources
                            .putObject(amounts)
                            .put(VcudaGrammar.CORE, Long.toString(core))
                            .put(VcudaGrammar.MEMORY, Long.toString(memory));
                }
            }
        }

        private void deliver(int count) {
            var events = new ArrayDeque<LedgerInput>();
            for (Sent event : history.subList(delivered, delivered + count)) {
                String position = Integer.toString(++delivered);
                events.add(
                        new LedgerInput.Pods(
                                event.version().removed()
                                        ? new PodEvent.Deleted(
                                                event.pod(), position, clock.instant())
                                        : new PodEvent.Updated(
                                                event.pod(), position, clock.instant())));
            }
            post(round, events);
        }

        /** As the ledger writer does it. */
        private static void post(PostingRound round, ArrayDeque<LedgerInput> events) {
            while (true) {
                try {
                    round.post(events);
                    return;
                } catch (DataAccessException | OutOfStepException e) {
                    round.forget();
                }
            }
        }

        private static long rate(RecordedLife life) {
            JsonNode limits = life.last().pod().at("/spec/containers/0/resources/limits");
            long core = limits.path(VcudaGrammar.CORE).asLong();
            long memory = limits.path(VcudaGrammar.MEMORY).asLong();
            return Math.max(core * 10_000, core < 100 ? memory * 1_000_000 / 60 : 0);
        }

        private static GpuTime during(RecordedLife life, Instant from, Instant to) {
            Charged due = AccountingTable.of(life);
            Instant start = due.begin().isBefore(from) ? from : due.begin();
            Instant stop = due.end().isAfter(to) ? to : due.end();
            return stop.isAfter(start)
                    ? new GpuTime(rate(life) * Duration.between(start, stop).toSeconds())
                    : GpuTime.ZERO;
        }

        void everyPodIsChargedItsLife() {
            var expected = new HashMap<UUID, Long>();
            lives.forEach((uid, life) ->
                    expected.put(uid, during(life, Instant.MIN, Instant.MAX).microGpuSeconds()));
            var charged = new HashMap<UUID, Long>();
            database.jdbc()
                    .sql(
                            """
                            select s.pod_uid, coalesce(sum(c.amount), 0)::bigint from pod_allocation s
                            left join pod_charge c using (cluster, pod_uid) group by s.pod_uid
                            """)
                    .query(row -> {
                        charged.put(row.getObject(1, UUID.class), row.getLong(2));
                    });

            assertThat(charged).isEqualTo(expected);
        }

        void entriesOfAPodNeverOverlap() {
            assertThat(
                            count(
                                    """
                                    select count(*) from charge a join charge b using (cluster, pod_uid)
                                    where a.charged_from < b.charged_from and b.charged_from < a.charged_to
                                    """))
                    .isZero();
        }

        void hoursAreTheSumsOfTheirEntries() {
            assertThat(
                            count(
                                    """
                                    select count(*) from usage_hour h full join
                                      (select cluster, budget, namespace,
                                              date_trunc('hour', charged_from, 'UTC') as hour, sum(amount) as amount
                                       from pod_charge group by 1, 2, 3, 4) e using (cluster, budget, namespace, hour)
                                    where h.amount is distinct from e.amount
                                    """))
                    .isZero();
        }

        private long count(String sql) {
            return database.jdbc().sql(sql).query(Long.class).single();
        }

        void theLedgerIsSound() {
            var verification =
                    Verifications.on(database, List.of(TestBudgets.closings(database, clock)));
            assertThat(verification.run().differences()).isEmpty();
            for (int i = 0; i < 5; i++) {
                Instant sound = clock.instant().minus(Duration.ofHours(random.nextInt(72)));
                assertThat(verification.runSince(sound).differences()).isEmpty();
            }
        }

        /** Allowance, what rolls over and debt, day by day, by plain arithmetic. */
        void budgetsAddUpDayByDay() {
            var days = new PeriodRule(Unit.Day, BERLIN, LocalDateTime.parse("2026-01-01T00:00:00"));
            GpuTime allowance = GpuTime.ofMinutes("40");
            GpuTime debt = GpuTime.ZERO;
            GpuTime rolled = GpuTime.ZERO;
            Period day = days.at(START);
            while (!clock.instant().isBefore(end(day))) {
                GpuTime own = allowance.minus(debt);
                GpuTime used = usedBy("a", day);
                GpuTime over = used.minus(own).minus(rolled);
                GpuTime unused = own.minus(used);
                rolled = unused.isPositive() ? unused.min(GpuTime.ofMinutes("10")) : GpuTime.ZERO;
                debt = over.isPositive() ? over.min(allowance.percent(25)) : GpuTime.ZERO;
                day = days.at(end(day));
            }
            BudgetState state = budgets.state("a").orElseThrow();
            GpuTime used = usedBy("a", day);
            GpuTime left = allowance.minus(debt).plus(rolled).minus(used);

            assertThat(state.period()).isEqualTo(day);
            assertThat(state.used(clock.instant())).isEqualTo(used);
            assertThat(state.remaining(clock.instant())).contains(left);
            assertThat(budgets.state("b").orElseThrow().used(clock.instant()))
                    .isEqualTo(usedBy("b", new Period(Instant.MIN, Instant.MAX)));
        }

        private static Instant end(Period period) {
            return Objects.requireNonNullElse(period.end(), Instant.MAX);
        }

        private GpuTime usedBy(String budget, Period period) {
            return lives.values().stream()
                    .filter(life ->
                            life.last().pod().at("/metadata/namespace").asText().startsWith(budget))
                    .map(life -> during(life, period.start(), end(period)))
                    .reduce(GpuTime.ZERO, GpuTime::plus);
        }
    }
}
