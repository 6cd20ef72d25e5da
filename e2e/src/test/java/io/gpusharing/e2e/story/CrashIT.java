package io.gpusharing.e2e.story;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fabric8.kubernetes.api.model.Event;
import io.gpusharing.e2e.cluster.AuditBills;
import io.gpusharing.e2e.cluster.Repository;
import io.gpusharing.e2e.cluster.TestCluster;
import io.gpusharing.e2e.installation.Installation;
import io.gpusharing.e2e.story.Crashes.Target;
import io.gpusharing.recount.Bill;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Kills the timekeeper and PostgreSQL at random points while pods come and go. Afterwards every
 * pod's bill is what the audit log says, and each Event that was due was written once.
 *
 * <p>Settable: {@code -Dcrash.seed}, {@code -Dcrash.rounds}, {@code -Dcrash.kills} (of a round),
 * {@code -Dcrash.pause} (longest between two kills, in milliseconds), {@code -Dcrash.wait} (longest
 * that a pod waits for its node, in seconds; at least 10), {@code -Dcrash.result} (a file for the
 * counts, which {@code benchmarks/soak/run} keeps).
 */
@Tag("chaos")
class CrashIT {

    private static final long SEED = Long.getLong("crash.seed", System.nanoTime());
    private static final int ROUNDS = Integer.getInteger("crash.rounds", 1);
    private static final int KILLS = Integer.getInteger("crash.kills", 3);
    private static final int LONGEST_PAUSE = Integer.getInteger("crash.pause", 6_000);
    private static final Duration LONGEST_WAIT =
            Duration.ofSeconds(Integer.getInteger("crash.wait", 15));
    private static final int TEAMS = 4;
    private static final Duration BETWEEN = Duration.ofMillis(300);

    /**
     * An end is reported a moment after it has happened: what all GPUs could have used in three
     * seconds.
     */
    private static final long HINDSIGHT = 4 * 3 * 1_000_000L;

    private static final long[] THRESHOLDS = {80, 95, 100};

    private static TestCluster cluster;
    private static Crashes crashes;
    private static Ledger ledger;

    private final SplittableRandom random = new SplittableRandom(SEED);
    private final Map<Target, Integer> killed = new EnumMap<>(Target.class);
    private int pods;
    private int waited;
    private int refused;
    private int eventsWritten;
    private int unseen;

    @BeforeAll
    static void start() {
        System.out.printf("crash.seed=%d crash.rounds=%d crash.kills=%d%n", SEED, ROUNDS, KILLS);
        cluster = TestCluster.start(Repository.root().resolve(".run/crash"));
        var installation =
                Installation.on(cluster, Map.of("GPUSHARING_BUDGETS_STATUSREFRESH", "5s"));
        ledger = Ledger.of(cluster, installation);
        crashes = new Crashes(cluster, installation, ledger);
    }

    @AfterAll
    static void end() {
        cluster.close();
    }

    @Test
    void noKillLosesOrRepeatsASecondOrAnEvent() throws IOException, InterruptedException {
        Instant begun = Instant.now();
        for (int round = 1; round <= ROUNDS; round++) {
            List<String> teams = teams(round);
            killUnderLoad(teams);
            theBillIsRight();
            everythingWasReportedOnce(teams);
            record(round, begun);
        }
    }

    /** Each with a budget that ends after another while, so that there is always an Event due. */
    private List<String> teams(int round) {
        List<String> teams =
                IntStream.range(0, TEAMS).mapToObj(i -> "crash-%d-%d".formatted(round, i)).toList();
        for (String team : teams) {
            cluster.createNamespace(team);
            cluster.kubectl()
                    .pipe(
                            """
                            apiVersion: gpusharing.io/v1alpha1
                            kind: GpuBudget
                            metadata: {name: %s}
                            spec: {namespaces: [%1$s], gpuMinutes: "0.%d"}
                            """
                                    .formatted(team, random.nextInt(5, 40)),
                            "create",
                            "-f",
                            "-")
                    .orFail();
        }
        return teams;
    }

    private void killUnderLoad(List<String> teams) throws InterruptedException {
        try (var load =
                new PodLoad(cluster.client(), teams, random.split(), BETWEEN, LONGEST_WAIT)) {
            load.start();
            for (int kill = 0; kill < KILLS; kill++) {
                TimeUnit.MILLISECONDS.sleep(random.nextInt(200, LONGEST_PAUSE));
                Target target = Target.any(random);
                crashes.kill(target);
                crashes.restartIfEnded();
                killed.merge(target, 1, Integer::sum);
            }
            crashes.awaitTimekeeper();
            assertThat(load.created()).as("pods came").isPositive();
            pods += load.created();
            waited += load.placed();
            refused += load.refused();
        }
    }

    private void theBillIsRight() {
        crashes.awaitAllEnds();
        assertThat(crashes.differences()).as("crash.seed=%d", SEED).isEmpty();
        if (!crashes.historyWasLost()) {
            assertThat(ledger.estimatedPods()).as("every final object was seen").isEmpty();
        }
        unseen = ledger.differences().size();
        assertThat(ledger.chargedToNobody()).as("every team has a budget").isZero();
    }

    /** The recount and the budgets decide which Events are due, not the timekeeper. */
    private void everythingWasReportedOnce(List<String> teams) {
        Map<String, Long> used =
                AuditBills.of(cluster).values().stream()
                        .collect(
                                Collectors.groupingBy(
                                        Bill::namespace,
                                        Collectors.summingLong(AuditBills::amount)));
        if (crashes.historyWasLost()) {
            used = ledger.chargesByNamespace();
        }
        for (String team : teams) {
            List<String> expected = due(team, used.getOrDefault(team, 0L));
            await("all Events are written of " + team)
                    .atMost(Duration.ofSeconds(30))
                    .untilAsserted(() ->
                            assertThat(events(team))
                                    .as("crash.seed=%d %s", SEED, team)
                                    .doesNotHaveDuplicates()
                                    .containsAll(expected));
            if (!crashes.historyWasLost()) {
                assertThat(due(team, used.getOrDefault(team, 0L) + HINDSIGHT))
                        .as("no Event says what was never true, crash.seed=%d %s", SEED, team)
                        .containsAll(events(team));
            }
            eventsWritten += expected.size();
        }
    }

    private static List<String> due(String team, long used) {
        String minutes =
                cluster.kubectl()
                        .run("get", "gpubudget", team, "-o", "jsonpath={.spec.gpuMinutes}")
                        .orFail();
        long granted = Math.round(Double.parseDouble(minutes) * 60_000_000);
        var due = new ArrayList<String>();
        for (long percent : THRESHOLDS) {
            if (used * 100 >= granted * percent) {
                due.add(percent == 100 ? "BudgetExhausted" : "BudgetThreshold " + percent);
            }
        }
        return due;
    }

    /**
     * Of the budget itself, as often as each was written; that it ends soon depends on the instant.
     */
    private static List<String> events(String budget) {
        var written = new TreeMap<String, Integer>();
        for (Event event :
                cluster.client().v1().events().inNamespace("default").list().getItems()) {
            if (event.getInvolvedObject().getName().equals(budget)
                    && !event.getReason().equals("BudgetEndsSoon")) {
                String what =
                        event.getReason().equals("BudgetThreshold")
                                ? "BudgetThreshold " + percent(event.getMessage())
                                : event.getReason();
                written.merge(what, event.getCount() == null ? 1 : event.getCount(), Integer::sum);
            }
        }
        var list = new ArrayList<String>();
        for (long percent : THRESHOLDS) {
            String what = percent == 100 ? "BudgetExhausted" : "BudgetThreshold " + percent;
            for (int i = 0; i < written.getOrDefault(what, 0); i++) {
                list.add(what);
            }
        }
        return list;
    }

    /** "80 % of ..." */
    private static String percent(String message) {
        return message.substring(0, message.indexOf(' '));
    }

    private void record(int round, Instant begun) throws IOException {
        var json = new ObjectMapper();
        ObjectNode result = json.createObjectNode();
        result.put("seed", SEED);
        result.put("rounds", round);
        result.put("kills", killed.values().stream().mapToInt(Integer::intValue).sum());
        killed.forEach((target, count) -> result.put("killed" + target, count));
        result.put("timekeeperStarts", crashes.restarts());
        result.put("podsAndJobsCreated", pods);
        result.put("podsThatWaited", waited);
        result.put("requestsRefused", refused);
        result.put("longestWaitSeconds", LONGEST_WAIT.toSeconds());
        result.put("podsBilled", AuditBills.of(cluster).size());
        result.put("microGpuSeconds", ledger.total());
        result.put("differencesOfPodsThatWereSeen", 0);
        result.put("podsWhoseEndWasNotSeen", unseen);
        result.put("historyLost", crashes.historyWasLost());
        result.put("eventsWrittenOnce", eventsWritten);
        result.put("seconds", Duration.between(begun, Instant.now()).toSeconds());
        System.out.println(result);
        String file = System.getProperty("crash.result");
        if (file != null) {
            Files.writeString(
                    Path.of(file),
                    json.writerWithDefaultPrettyPrinter().writeValueAsString(result));
        }
    }
}
