package io.gpusharing.e2e.story;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpusharing.e2e.cluster.AuditBills;
import io.gpusharing.e2e.cluster.Repository;
import io.gpusharing.e2e.cluster.TestCluster;
import io.gpusharing.e2e.installation.Installation;
import io.gpusharing.e2e.story.PayerHistory.Answer;
import io.gpusharing.e2e.story.PayerHistory.Span;
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
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Budgets are deleted, made anew and given other namespaces while hundreds of pods come and go, and
 * while the timekeeper, its database or both are away for seconds. Afterwards each second of each
 * pod was charged once, and to a budget that had the namespace then, by what the API server says.
 *
 * <p>Settable: {@code -Dpayers.seed}, {@code -Dpayers.pods}, {@code -Dpayers.result} (a file for
 * the counts, which {@code benchmarks/soak/payers} keeps).
 */
@Tag("chaos")
class PayersIT {

    private static final long SEED = Long.getLong("payers.seed", System.nanoTime());
    private static final int PODS = Integer.getInteger("payers.pods", 600);
    private static final List<String> TEAMS =
            IntStream.range(0, 6).mapToObj(i -> "payers-" + i).toList();
    private static final Duration BETWEEN = Duration.ofMillis(150);
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(15);

    /** In milliseconds: between two outages, and of an outage. */
    private static final int SHORTEST = 2_500;

    private static final int LONGEST = 9_000;

    /** What the timekeeper takes to write down what it sees; what it had not is seen again. */
    private static final Duration WRITTEN_WITHIN = Duration.ofSeconds(2);

    private static TestCluster cluster;
    private static Installation installation;
    private static Ledger ledger;
    private static Crashes crashes;

    private final SplittableRandom random = new SplittableRandom(SEED);
    private final Map<Outage, Integer> outages = new EnumMap<>(Outage.class);
    private final List<Span> unseen = new ArrayList<>();

    /** What is away, from when on, and who is killed later. */
    private enum Outage {
        TIMEKEEPER,
        DATABASE,
        BOTH,

        /** The timekeeper dies with what it could not write down. */
        DATABASE_THEN_TIMEKEEPER
    }

    @BeforeAll
    static void start() {
        System.out.printf("payers.seed=%d payers.pods=%d%n", SEED, PODS);
        cluster = TestCluster.start(Repository.root().resolve(".run/payers"));
        installation = Installation.on(cluster, Installation.SHORT_LEASE);
        ledger = Ledger.of(cluster, installation);
        crashes = new Crashes(cluster, installation, ledger);
        TEAMS.forEach(cluster::createNamespace);
    }

    @AfterAll
    static void end() {
        cluster.close();
    }

    @Test
    void everySecondIsPaidByABudgetThatHadTheNamespaceThen()
            throws IOException, InterruptedException {
        Instant begun = Instant.now();
        var moves = new BudgetMoves(cluster.client(), TEAMS, random.split());
        var load = new PodLoad(cluster.client(), TEAMS, random.split(), BETWEEN, LONGEST_WAIT);
        try (moves;
                load) {
            moves.start();
            awaitBudgetsKnown();
            TEAMS.forEach(PayersIT::createOneThatStays);
            load.start();
            while (load.created() < PODS) {
                pause();
                happen(Outage.values()[random.nextInt(Outage.values().length)]);
            }
        }
        theBillIsRight();
        ObjectNode result = everySecondHasItsPayer(new PayerHistory(moves.written(), unseen));
        result.put("budgetsWritten", moves.written().size());
        result.put("podsAndJobsCreated", load.created());
        result.put("requestsRefused", load.refused());
        result.put("seconds", Duration.between(begun, Instant.now()).toSeconds());
        keep(result);
    }

    /** Its namespace moves again and again while it runs. */
    private static void createOneThatStays(String team) {
        cluster.client().resource(PodLoad.pod(team, "stays", 5, false)).create();
    }

    private void happen(Outage outage) throws InterruptedException {
        outages.merge(outage, 1, Integer::sum);
        Instant from = Instant.now().minus(WRITTEN_WITHIN);
        crashes.kill(
                switch (outage) {
                    case TIMEKEEPER -> Crashes.Target.TIMEKEEPER;
                    case BOTH -> Crashes.Target.BOTH;
                    case DATABASE, DATABASE_THEN_TIMEKEEPER -> Crashes.Target.DATABASE;
                });
        pause();
        if (outage == Outage.DATABASE_THEN_TIMEKEEPER) {
            crashes.kill(Crashes.Target.TIMEKEEPER);
            pause();
        }
        boolean sawAll = installation.timekeeper().program().runs();
        crashes.restartIfEnded();
        crashes.awaitTimekeeper();
        awaitBudgetsKnown();
        assertThat(installation.timekeeper().program().runs()).isTrue();
        if (outage == Outage.DATABASE) {
            // So no second of it is excused.
            assertThat(sawAll).as("the timekeeper outlives its database").isTrue();
        } else if (!sawAll) {
            unseen.add(new Span(from, Instant.now()));
        }
    }

    private void pause() throws InterruptedException {
        TimeUnit.MILLISECONDS.sleep(random.nextInt(SHORTEST, LONGEST));
    }

    /** One that comes after all that there were so far is written down after them. */
    private static void awaitBudgetsKnown() {
        String probe = "probe-" + Instant.now().toEpochMilli();
        cluster.kubectl()
                .pipe(BudgetMoves.manifest(probe, List.of(probe), "1"), "create", "-f", "-")
                .orFail();
        await("the budgets are known")
                .atMost(Duration.ofMinutes(1))
                .pollInterval(Duration.ofMillis(100))
                .ignoreExceptions()
                .until(() -> ledger.knows(probe));
    }

    private static void theBillIsRight() {
        crashes.awaitAllEnds();
        assertThat(crashes.differences()).as("payers.seed=%d", SEED).isEmpty();
        if (!crashes.historyWasLost()) {
            assertThat(ledger.estimatedPods()).as("every final object was seen").isEmpty();
        }
    }

    private ObjectNode everySecondHasItsPayer(PayerHistory history) {
        var wrong = new ArrayList<String>();
        var answers = new EnumMap<Answer, Integer>(Answer.class);
        List<PaidSpan> paid = PaidSpan.of(ledger);
        for (PaidSpan span : paid) {
            for (Instant at = span.from(); at.isBefore(span.to()); at = at.plusSeconds(1)) {
                Answer answer = history.judge(span.namespace(), span.budget(), at);
                answers.merge(answer, 1, Integer::sum);
                if (answer == Answer.WRONG) {
                    var second = new Span(at, at.plusSeconds(1));
                    wrong.add(
                            "%s at %s: charged to '%s', not to '%s'"
                                    .formatted(
                                            span.pod(),
                                            at,
                                            span.budget(),
                                            String.join(
                                                    "' or '",
                                                    history.payers(span.namespace(), second))));
                }
            }
        }
        assertThat(wrong).as("payers.seed=%d, unseen: %s, %s", SEED, unseen, history).isEmpty();
        int all = answers.values().stream().mapToInt(Integer::intValue).sum();
        assertThat(answers.getOrDefault(Answer.RIGHT, 0))
                .as("most of %d seconds need no excuse, payers.seed=%d", all, SEED)
                .isGreaterThan(all / 2);
        assertThat(paid.stream().collect(Collectors.groupingBy(it -> it.pod() + it.from())))
                .as("one payer at a time")
                .allSatisfy((pod, payers) -> assertThat(payers).hasSize(1));
        return result(paid, answers);
    }

    private ObjectNode result(List<PaidSpan> paid, Map<Answer, Integer> answers) {
        ObjectNode result = new ObjectMapper().createObjectNode();
        result.put("seed", SEED);
        outages.forEach((outage, count) -> result.put("outagesOf" + outage, count));
        result.put("podsBilled", AuditBills.of(cluster).size());
        result.put("spansCharged", paid.size());
        answers.forEach((answer, seconds) -> result.put("seconds" + answer, seconds));
        result.put("microGpuSeconds", ledger.total());
        result.put(
                "secondsToNobody",
                paid.stream()
                        .filter(it -> it.budget().equals(PayerHistory.NOBODY))
                        .mapToLong(it -> Duration.between(it.from(), it.to()).toSeconds())
                        .sum());
        return result;
    }

    private static void keep(ObjectNode result) throws IOException {
        System.out.println(result);
        String file = System.getProperty("payers.result");
        if (file != null) {
            Files.writeString(Path.of(file), result.toPrettyString());
        }
    }
}
