package io.gpusharing.timekeeper.budget.status;

import static io.gpusharing.timekeeper.budget.TestBudgets.monthly;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.kubernetes.LedgerLease.Word;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.timekeeper.budget.BudgetProperties;
import io.gpusharing.timekeeper.budget.BudgetProperties.UnnamedNamespaces;
import io.gpusharing.timekeeper.budget.TestBudgets.Written;
import io.gpusharing.timekeeper.budget.grant.GrantWatch;
import io.gpusharing.timekeeper.cluster.RequestProperties;
import io.gpusharing.timekeeper.ledger.posting.LedgerWriter;
import io.gpusharing.timekeeper.ledger.posting.LedgerWriters;
import io.gpusharing.timekeeper.ledger.posting.TestLedger;
import io.gpusharing.timekeeper.testing.FakeApiServer;
import io.gpusharing.timekeeper.testing.FakeApiServer.Asked;
import io.gpusharing.timekeeper.testing.Pods;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the publisher lets be said of the statuses that it writes. */
class StatusPublisherTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");
    private static final BudgetProperties PROPERTIES =
            new BudgetProperties(
                    UnnamedNamespaces.Unlimited,
                    null,
                    Duration.ofHours(1),
                    Duration.ofSeconds(1),
                    Duration.ofSeconds(10),
                    Duration.ofSeconds(30),
                    false,
                    List.of());

    /** Ends a quarter of a minute after somebody begins to use a GPU. */
    private static final Written SMALL = monthly("small", TEN, "0.25", "team-s");

    private static final Written RICH = monthly("rich", TEN, "10000", "team-r");

    private final FakeApiServer api = new FakeApiServer();
    private final UnreadableObjects objects = new UnreadableObjects(object -> {});
    private final TestLedger ledger = new TestLedger(TEN, SMALL, RICH);
    private final LedgerWriter writer =
            LedgerWriters.on(
                    ledger.database,
                    ledger.budgets(),
                    new SimpleMeterRegistry(),
                    Leadership.alone(),
                    ledger.clock);
    private final BudgetWatch watch =
            new BudgetWatch(
                    api.client(),
                    ledger.budgets(),
                    objects,
                    writer,
                    new QuotaWatch(api.client(), ledger.budgets(), objects, writer),
                    new GrantWatch(
                            api.client(), ledger.budgets(), objects, writer, Leadership.alone()));
    private final CatchUp catchUp = new CatchUp();
    private final StatusPublisher publisher =
            new StatusPublisher(
                    api.client(),
                    ledger.budgets(),
                    watch,
                    new NamespaceWatch(api.client(), PROPERTIES, objects, "gpusharing-system"),
                    new UncountedWatch(
                            Optional::empty,
                            RequestGrammars.of(List.of("vcuda"), List.of()),
                            new RequestProperties(List.of(), List.of(), Map.of(), Map.of()),
                            new SimpleMeterRegistry(),
                            Leadership.alone(),
                            ledger.clock),
                    new UnreadableWatch(objects, Leadership.alone(), ledger.clock),
                    catchUp,
                    PROPERTIES,
                    Leadership.alone(),
                    ledger.clock);

    StatusPublisherTest() throws IOException {
        api.answer(
                "/apis/gpusharing.io/v1alpha1",
                """
                {"kind": "APIResourceList", "groupVersion": "gpusharing.io/v1alpha1", "resources": [
                  {"name": "gpubudgets", "kind": "GpuBudget", "namespaced": false, "verbs": ["get"]}]}
                """);
        api.answer(
                "/gpubudgets",
                """
                {"apiVersion": "gpusharing.io/v1alpha1", "kind": "GpuBudgetList",
                 "metadata": {"resourceVersion": "1"}, "items": [%s, %s]}
                """
                        .formatted(object("small"), object("rich")));
    }

    private static String object(String name) {
        return """
        {"apiVersion": "gpusharing.io/v1alpha1", "kind": "GpuBudget",
         "metadata": {"name": "%s", "uid": "uid-%s", "generation": 1,
                      "creationTimestamp": "2026-03-02T10:00:00Z"},
         "spec": {"namespaces": ["team"], "gpuMinutes": "1"}}
        """
                .formatted(name, name);
    }

    @BeforeEach
    void start() {
        watch.start();
        await().until(() -> watch.get("small") != null && watch.get("rich") != null);
    }

    @AfterEach
    void stop() {
        watch.stop();
        api.close();
    }

    /** Time passes, all that was reported is posted, and the publisher does a round. */
    private Instant round(int seconds) {
        ledger.clock.pass(Duration.ofSeconds(seconds));
        Instant now = ledger.clock.instant();
        ledger.budgets().received(now);
        ledger.pass(Duration.ZERO);
        publisher.work(now);
        return now;
    }

    private Optional<Word> word() {
        return catchUp.word(ledger.clock.instant(), Set.of());
    }

    private static Optional<Word> says(Instant caughtUp, String... behind) {
        return Optional.of(new Word(caughtUp, Set.of(behind)));
    }

    private long writes(String budget) {
        return api.taken.stream()
                .filter(it -> it.path().endsWith("/gpubudgets/%s/status".formatted(budget)))
                .count();
    }

    private void refuse(String budget) {
        api.refuse("/gpubudgets/%s/status".formatted(budget), 500);
    }

    private void allow(String budget) {
        api.allow("/gpubudgets/%s/status".formatted(budget));
    }

    private void usesAGpu(String namespace) {
        ledger.onUpdate(Pods.waiting(namespace, 100, 60).boundAt(ledger.clock.instant()));
    }

    @Test
    void nothingIsSaidInATermBeforeEachStatusWasWritten() {
        refuse("small");
        round(1);
        round(1);
        assertThat(writes("rich")).isEqualTo(1);
        assertThat(word()).isEmpty();

        allow("small");
        Instant now = round(2);

        assertThat(word()).isEqualTo(says(now));
    }

    @Test
    void afterAChangeOfLeadersNothingIsSaidBeforeEachWasWrittenAnew() {
        round(1);
        assertThat(word()).isPresent();
        refuse("rich");

        publisher.takeOver();
        assertThat(word()).isEmpty();
        round(1);
        assertThat(word()).isEmpty();

        allow("rich");
        Instant now = round(2);
        assertThat(word()).isEqualTo(says(now));
        assertThat(writes("small")).isEqualTo(2);
    }

    @Test
    void aStatusThatCannotBeWrittenIsNamedAfterHalfAMinuteAndHoldsUpNoOther() {
        Instant before = round(1);
        refuse("small");
        usesAGpu("team-s");

        round(1);
        assertThat(word()).as("what stands there was right then").isEqualTo(says(before));
        round(30);
        assertThat(word()).isEqualTo(says(before));
        usesAGpu("team-r");
        Instant later = round(1);
        assertThat(word()).isEqualTo(says(later, "small"));
        round(11);
        assertThat(writes("rich")).as("the other is written").isEqualTo(2);

        allow("small");
        Instant written = round(30);
        assertThat(word()).isEqualTo(says(written));
    }

    @Test
    void aChangeByWhichNobodyDecidesOtherwiseHoldsUpNothing() {
        round(1);
        usesAGpu("team-r");

        Instant now = round(1);

        assertThat(writes("rich")).as("it can wait").isEqualTo(1);
        assertThat(word()).isEqualTo(says(now));
    }

    /** It changes again within the second in which no status is written twice. */
    @Test
    void aStatusThatHasToWaitForItsSecondHoldsUpAllMeanwhile() {
        round(1);
        usesAGpu("team-s");
        Instant written = round(1);
        assertThat(word()).isEqualTo(says(written));
        usesAGpu("team-s");

        round(0);
        assertThat(word()).isEqualTo(says(written));

        Instant now = round(1);
        assertThat(word()).isEqualTo(says(now));
    }

    /** The line that stands there says itself when it ends. */
    @Test
    void aBudgetThatEndsSoonIsRight() {
        usesAGpu("team-s");
        round(1);

        for (int second = 0; second < 20; second++) {
            Instant now = round(1);
            assertThat(word()).isEqualTo(says(now));
        }
    }

    @Test
    void aBudgetThatHasGoneIsForgotten() {
        round(1);
        refuse("small");
        usesAGpu("team-s");
        round(1);
        round(31);
        assertThat(word().orElseThrow().behind()).containsExactly("small");

        ledger.exist(RICH);
        Instant now = round(1);

        assertThat(word()).isEqualTo(says(now));
    }

    @Test
    void aBudgetThatIsNotUnderstoodIsNamedThoughItsStatusIsWritten() {
        round(1);

        ledger.exist(monthly("small", TEN, "many", "team-s").ofGeneration(2), RICH);
        Instant now = round(1);

        assertThat(writes("small")).isEqualTo(2);
        assertThat(word()).isEqualTo(says(now, "small"));
        ledger.exist(SMALL.ofGeneration(3), RICH);
        Instant mended = round(1);
        assertThat(word()).isEqualTo(says(mended));
    }

    @Test
    void anEventSaysOnceWhatIsWrongWithABudget() {
        round(1);
        assertThat(api.created("/events")).isZero();

        ledger.exist(monthly("small", TEN, "many", "team-s").ofGeneration(2), RICH);
        round(1);

        assertThat(api.to("/events"))
                .singleElement()
                .extracting(Asked::body)
                .asString()
                .contains("\"reason\":\"BudgetMisspelled\"", "spec.gpuMinutes is \\\"many\\\"");
    }

    @Test
    void aNamespaceWhoseEventsAreRefusedHoldsUpNoStatus() {
        round(1);
        api.refuse("/events", 403);

        ledger.exist(monthly("small", TEN, "many", "team-s").ofGeneration(2), RICH);
        round(1);

        assertThat(writes("small")).isEqualTo(2);
    }

    @Test
    void whatIsPublishedIsNoNewerThanWhatTheLedgerWasAskedFor() {
        Instant asked = round(1);
        ledger.clock.pass(Duration.ofMinutes(1));

        publisher.work(ledger.clock.instant());

        assertThat(word()).isEqualTo(says(asked));
    }
}
