package io.gpusharing.timekeeper.budget.notify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.kubernetes.PodFacts;
import io.gpusharing.kubernetes.Terms;
import io.gpusharing.request.GpuShare;
import io.gpusharing.testing.RandomSeeds;
import io.gpusharing.testing.SteppingClock;
import io.gpusharing.timekeeper.budget.BudgetProperties;
import io.gpusharing.timekeeper.budget.BudgetProperties.UnnamedNamespaces;
import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.budget.TestBudgets;
import io.gpusharing.timekeeper.budget.TestBudgets.Given;
import io.gpusharing.timekeeper.cluster.ClusterView;
import io.gpusharing.timekeeper.cluster.ClusterViews;
import io.gpusharing.timekeeper.ledger.PodAllocation;
import io.gpusharing.timekeeper.testing.FakeApiServer;
import io.gpusharing.timekeeper.testing.FakeApiServer.Asked;
import io.gpusharing.timekeeper.testing.OpenAllocation;
import io.gpusharing.timekeeper.testing.Pods;
import io.gpusharing.timekeeper.testing.TestDatabase;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;

/**
 * Running pods are annotated with the end of their budget. The budget has 100 minutes; one GPU
 * runs.
 */
class PodAnnotatorTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");
    private static final Pattern VALUE =
            Pattern.compile(
                    Pattern.quote("\"" + Names.EXHAUSTED_AT_ANNOTATION + "\":")
                            + "(null|\"([^\"]*)\")");

    private final TestDatabase database = TestDatabase.create();
    private final SteppingClock clock = new SteppingClock(TEN);
    private final Budgets budgets = TestBudgets.on(database, Duration.ofHours(1), clock);
    private final ClusterView view = ClusterViews.withNode();

    /** The pods that are there, and what is written on them. */
    private final Map<Pods, Map<String, String>> pods = new HashMap<>();

    private final List<PodAllocation> allocations = new ArrayList<>();
    private int readUntil;
    private FakeApiServer api;
    private PodAnnotator annotator;

    @BeforeEach
    void start() throws IOException {
        api = new FakeApiServer();
        database.jdbc()
                .sql(
                        "insert into cluster (id, metering_start) values ('test', '2026-03-01T00:00:00Z')")
                .update();
        TestBudgets.exist(budgets, List.of(TestBudgets.monthly("a", TEN, "100", "team-a")));
        runs();
        restart();
    }

    @AfterEach
    void stop() {
        api.close();
    }

    private void restart() {
        annotator = annotator(true, Leadership.alone());
    }

    private PodAnnotator annotator(boolean annotatePods, Leadership leadership) {
        return new PodAnnotator(
                api.client(),
                budgets,
                view,
                new BudgetProperties(
                        UnnamedNamespaces.Unlimited,
                        null,
                        Duration.ofHours(1),
                        Duration.ofSeconds(1),
                        Duration.ofSeconds(10),
                        Duration.ofSeconds(30),
                        annotatePods,
                        List.of()),
                leadership,
                clock);
    }

    /** From now on one more pod holds a GPU. */
    private Pods runs() {
        Pods pod = Pods.waiting("team-a", 100, 0).boundAt(clock.instant());
        pods.put(pod, Map.of());
        allocations.add(
                OpenAllocation.of(
                        "team-a",
                        "a",
                        1_000_000,
                        new GpuShare(1_000_000, 1_000_000),
                        clock.instant()));
        updateBudgets();
        listen();
        return pod;
    }

    private void updateBudgets() {
        budgets.restored(allocations);
        budgets.upToDate(clock.instant());
    }

    private void grants(String minutes) {
        TestBudgets.grant(budgets, List.of(new Given("more", "a", minutes, clock.instant())));
        budgets.upToDate(clock.instant());
    }

    private static PodFacts facts(Map.Entry<Pods, Map<String, String>> pod) {
        return pod.getKey().facts(pod.getValue());
    }

    /** The watch delivers what was written. */
    private void listen() {
        List<Asked> fresh = List.copyOf(api.taken.subList(readUntil, api.taken.size()));
        readUntil += fresh.size();
        for (Asked patch : fresh) {
            Matcher value = VALUE.matcher(patch.body());
            assertThat(value.find()).as("%s", patch).isTrue();
            pods.replaceAll((pod, before) ->
                    !patch.path().endsWith("/pods/" + pod.facts().name())
                            ? before
                            : value.group(2) == null
                                    ? Map.of()
                                    : Map.of(Names.EXHAUSTED_AT_ANNOTATION, value.group(2)));
        }
        ClusterViews.show(view, pods.entrySet().stream().map(PodAnnotatorTest::facts).toList());
    }

    private void at(int minute) {
        at(TEN.plus(Duration.ofMinutes(minute)));
    }

    private void at(Instant instant) {
        clock.set(instant);
        budgets.upToDate(instant);
        annotator.work(instant);
        listen();
    }

    private @Nullable Instant nextAfter(int seconds) {
        clock.set(TEN.plusSeconds(seconds));
        return annotator.work(clock.instant());
    }

    /** What is written on the only pod, or on all of them alike. */
    private String annotation() {
        return pods.values().stream()
                .map(it -> it.getOrDefault(Names.EXHAUSTED_AT_ANNOTATION, "nothing"))
                .distinct()
                .reduce((one, other) -> one + " and " + other)
                .orElseThrow();
    }

    @Test
    void aRunningPodIsAnnotatedAQuarterOfAnHourBeforeAndNotAgain() {
        assertThat(nextAfter(0)).isEqualTo(TEN.plusSeconds(30));
        assertThat(nextAfter(84 * 60 + 45)).isEqualTo(TEN.plus(Duration.ofMinutes(85)));
        assertThat(api.requests).isEmpty();

        at(85);
        assertThat(annotation()).isEqualTo("2026-03-02T11:40:00Z");
        assertThat(nextAfter(99 * 60 + 45)).isEqualTo(TEN.plus(Duration.ofMinutes(100)));
        at(100);
        at(110);

        assertThat(api.requests)
                .singleElement()
                .satisfies(patch -> {
                    Pods pod = pods.keySet().iterator().next();
                    assertThat(patch.method()).isEqualTo("PATCH");
                    assertThat(patch.path())
                            .isEqualTo("/api/v1/namespaces/team-a/pods/" + pod.facts().name());
                    assertThat(patch.body())
                            .isEqualTo(
                                    "{\"metadata\":{\"uid\":\"%s\",\"annotations\":{\"gpusharing.io/budget-exhausted-at\":\"2026-03-02T11:40:00Z\"}}}"
                                            .formatted(pod.uid()));
                });
    }

    @Test
    void aGrantRemovesTheAnnotationUntilItIsUsedUpToo() {
        at(90);
        grants("60");
        at(91);
        assertThat(annotation()).isEqualTo("nothing");

        at(145);
        assertThat(annotation()).isEqualTo("2026-03-02T12:40:00Z");
    }

    @Test
    void aPodThatStartsChangesTheAnnotationOfAllPods() {
        at(90);
        clock.set(TEN.plus(Duration.ofMinutes(92)));
        runs();
        at(92);

        assertThat(annotation()).isEqualTo("2026-03-02T11:36:00Z");
    }

    @Test
    void aPodThatStartsInAnExhaustedBudgetIsAnnotatedWithTheInstant() {
        at(101);
        clock.set(TEN.plus(Duration.ofHours(2)));
        runs();
        at(120);

        assertThat(annotation()).isEqualTo("2026-03-02T11:40:00Z");
        assertThat(pods).hasSize(2);
    }

    @Test
    void aForgedAnnotationIsRepairedAndACorrectOneIsKept() {
        pods.replaceAll(
                (pod, none) -> Map.of(Names.EXHAUSTED_AT_ANNOTATION, "2026-12-24T00:00:00Z"));
        listen();
        at(1);
        assertThat(annotation()).isEqualTo("nothing");

        pods.replaceAll(
                (pod, none) -> Map.of(Names.EXHAUSTED_AT_ANNOTATION, "2026-12-24T00:00:00Z"));
        listen();
        at(90);
        assertThat(annotation()).isEqualTo("2026-03-02T11:40:00Z");

        int before = api.requests.size();
        restart();
        at(91);
        assertThat(api.requests).hasSize(before);
    }

    @Test
    void atMostTwentyPodsAreWrittenInASecondAndNoPodAgainWithinTen() {
        for (int i = 0; i < 49; i++) {
            pods.put(Pods.waiting("team-a", 0, 0).boundAt(TEN), Map.of());
        }
        listen();
        Instant sight = TEN.plus(Duration.ofMinutes(85));

        at(sight);
        assertThat(api.requests).hasSize(20);
        at(sight.plusMillis(900));
        assertThat(api.requests).hasSize(20);
        at(sight.plusSeconds(1));
        at(sight.plusSeconds(2));
        assertThat(api.requests).hasSize(50);
        assertThat(annotation()).isEqualTo("2026-03-02T11:40:00Z");

        clock.set(sight.plusSeconds(5));
        grants("60");
        at(sight.plusSeconds(5));
        assertThat(api.requests).hasSize(50);
        at(sight.plusSeconds(10));
        assertThat(api.requests).hasSize(70);
    }

    @Test
    void annotationsAreWrittenOnceTheApiServerIsBack() {
        String name = pods.keySet().iterator().next().facts().name();
        api.refuse(name, 503);
        assertThatThrownBy(() -> at(86)).isInstanceOf(KubernetesClientException.class);

        api.allow(name);
        at(87);

        assertThat(annotation()).isEqualTo("2026-03-02T11:40:00Z");
    }

    @Test
    void aPodThatCannotBePatchedDelaysNoOtherAndIsTriedAgainAfterAMinute() {
        Pods first = pods.keySet().iterator().next();
        api.refuse(first.facts().name(), 500);
        pods.put(Pods.waiting("team-a", 0, 0).boundAt(TEN), Map.of());
        listen();
        at(86);
        assertThat(annotation()).contains("2026-03-02T11:40:00Z", "nothing");

        at(TEN.plus(Duration.ofMinutes(86)).plusSeconds(59));
        assertThat(api.requests).hasSize(2);
        api.allow(first.facts().name());
        at(87);

        assertThat(annotation()).isEqualTo("2026-03-02T11:40:00Z");
    }

    @Test
    void aReplicaThatDoesNotLeadOrIsNotConfiguredToWritesNothing() {
        var terms = new Terms();
        annotator = annotator(true, terms.leadership());
        at(90);
        assertThat(api.requests).isEmpty();

        annotator = annotator(false, Leadership.alone());
        annotator.start();
        assertThat(annotator.isRunning()).isFalse();
    }

    @Test
    void nothingIsWrittenBeforeTheInitialListsAreRead() {
        clock.set(TEN.plus(Duration.ofMinutes(90)));
        budgets.followed(clock.instant());

        assertThat(annotator.work(clock.instant())).isNull();
        assertThat(api.requests).isEmpty();
    }

    @ParameterizedTest
    @RandomSeeds(4)
    void everyRunningPodHasTheRightAnnotationInTheEnd(long seed) {
        Random random = new Random(seed);
        int granted = 0;
        for (int step = 0; step < 60; step++) {
            clock.pass(Duration.ofSeconds(random.nextInt(240)));
            switch (random.nextInt(7)) {
                case 0 -> runs();
                case 1 -> grants(Integer.toString(++granted * 20));
                case 2 -> restart();
                case 3 ->
                        pods.replaceAll((pod, before) ->
                                random.nextInt(3) > 0
                                        ? before
                                        : random.nextBoolean()
                                                ? Map.of()
                                                : Map.of(
                                                        Names.EXHAUSTED_AT_ANNOTATION,
                                                        clock.instant()
                                                                .plusSeconds(random.nextInt(2000))
                                                                .toString()));
                case 4 -> api.refuse(anyName(random), random.nextBoolean() ? 503 : 403);
                default -> updateBudgets();
            }
            if (!turn()) {
                pods.keySet().forEach(pod -> api.allow(pod.facts().name()));
            }
        }
        pods.keySet().forEach(pod -> api.allow(pod.facts().name()));
        for (int second = 0; second < 90; second++) {
            clock.pass(Duration.ofSeconds(1));
            turn();
        }

        Instant now = clock.instant();
        Instant end =
                Objects.requireNonNullElse(
                        budgets.state("a").orElseThrow().exhaustedAt(), Instant.MAX);
        for (Map<String, String> written : pods.values()) {
            String annotation = written.get(Names.EXHAUSTED_AT_ANNOTATION);
            if (annotation == null) {
                assertThat(end).isAfter(now.plusSeconds(15 * 60 - 1));
            } else {
                assertThat(end).isBefore(now.plusSeconds(15 * 60 + 31));
                assertThat(Duration.between(end, Instant.parse(annotation)).abs())
                        .isLessThanOrEqualTo(Duration.ofSeconds(end.isAfter(now) ? 31 : 1));
            }
        }
    }

    private String anyName(Random random) {
        return List.copyOf(pods.keySet()).get(random.nextInt(pods.size())).facts().name();
    }

    /** One round as the annotator's own thread has it; false if the API server was away. */
    private boolean turn() {
        budgets.upToDate(clock.instant());
        try {
            annotator.work(clock.instant());
            return true;
        } catch (KubernetesClientException e) {
            return false;
        } finally {
            listen();
        }
    }
}
