package io.gpusharing.timekeeper.budget.correction;

import static io.gpusharing.timekeeper.budget.TestBudgets.monthly;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.testing.SteppingClock;
import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.budget.TestBudgets;
import io.gpusharing.timekeeper.ledger.posting.LedgerWriter;
import io.gpusharing.timekeeper.ledger.posting.LedgerWriters;
import io.gpusharing.timekeeper.ledger.posting.TestLedger;
import io.gpusharing.timekeeper.testing.FakeApiServer;
import io.gpusharing.timekeeper.testing.FakeApiServer.Asked;
import io.gpusharing.timekeeper.testing.Pods;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class CorrectorTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");
    private static final String STATUS = "/gpucorrections/%s/status";

    private final FakeApiServer api = new FakeApiServer();
    private final TestLedger ledger = new TestLedger(TEN, monthly("a", TEN, "6000", "team-a"));
    private final Pods pod = Pods.waiting("team-a", 50, 15).boundAt(TEN);
    private final SteppingClock clock = new SteppingClock(TEN.plus(Duration.ofHours(2)));
    private final Budgets budgets = TestBudgets.on(ledger.database, Duration.ofHours(1), clock);
    private final LedgerWriter writer =
            LedgerWriters.on(
                    ledger.database, budgets, new SimpleMeterRegistry(), Leadership.alone(), clock);
    private final CorrectionWatch watch =
            new CorrectionWatch(api.client(), new UnreadableObjects(object -> {}), writer);
    private final Corrector corrector =
            new Corrector(
                    api.client(),
                    watch,
                    new CorrectionOrders(ledger.corrections(), ledger.database.transactions()),
                    budgets,
                    writer,
                    Leadership.alone(),
                    clock);

    /** It held half a GPU for an hour. */
    CorrectorTest() throws IOException {
        ledger.onUpdate(pod);
        ledger.pass(Duration.ofHours(1));
        ledger.onUpdate(pod.finishedAt(TEN.plus(Duration.ofHours(1))));
        ledger.pass(Duration.ofMinutes(1));
    }

    @AfterEach
    void stop() {
        corrector.stop();
        watch.stop();
        writer.stop();
        api.close();
    }

    /** The client wants to know where objects of a kind lie. */
    private static final String KINDS =
            """
            {"kind": "APIResourceList", "groupVersion": "gpusharing.io/v1alpha1", "resources": [
              {"name": "gpucorrections", "kind": "GpuCorrection", "namespaced": false, "verbs": ["get"]}]}
            """;

    private String correction(String name, String created, long rate) {
        return """
        {"apiVersion": "gpusharing.io/v1alpha1", "kind": "GpuCorrection",
         "metadata": {"name": "%s", "uid": "%s", "resourceVersion": "5", "creationTimestamp": "%s",
                      "annotations": {"gpusharing.io/author": "ada"}},
         "spec": {"budget": "a", "pod": {"uid": "%s"}, "from": "2026-03-02T10:00:00Z", "to": "2026-03-02T10:01:00Z",
                  "rate": %d, "reason": "the node was broken"}}
        """
                .formatted(name, uid(name), created, pod.uid(), rate);
    }

    private static UUID uid(String name) {
        return UUID.nameUUIDFromBytes(name.getBytes(StandardCharsets.UTF_8));
    }

    private void run(String... corrections) {
        api.answer("/apis/gpusharing.io/v1alpha1", KINDS);
        api.answer(
                "/gpucorrections",
                """
                {"apiVersion": "gpusharing.io/v1alpha1", "kind": "GpuCorrectionList",
                 "metadata": {"resourceVersion": "9"}, "items": [%s]}
                """
                        .formatted(Stream.of(corrections).collect(Collectors.joining(","))));
        writer.between(
                () -> TestBudgets.exist(budgets, List.of(monthly("a", TEN, "6000", "team-a"))));
        writer.start();
        writer.begin();
        watch.start();
        corrector.start();
    }

    private String told(String name) {
        List<Asked> patches = api.to(STATUS.formatted(name));
        return patches.isEmpty() ? "" : patches.getLast().body();
    }

    private long charged() {
        return ledger.charged(pod).microGpuSeconds() / 500_000;
    }

    @Test
    void anObjectIsWrittenAndItsStatusSaysWhatChanged() {
        run(correction("node-7", "2026-03-02T11:30:00Z", 0));

        await().untilAsserted(() ->
                assertThat(told("node-7"))
                        .contains(
                                "\"gpuMinutes\":\"-0.500\"", "\"uid\":\"" + uid("node-7") + "\""));
        assertThat(charged()).isEqualTo(3540);
    }

    @Test
    void ofTwoForTheSameSecondsTheLaterOneStands() {
        run(
                correction("a-later-one", "2026-03-02T11:40:00Z", 0),
                correction("one", "2026-03-02T11:30:00Z", 250_000));

        await().until(() -> !told("a-later-one").isEmpty() && !told("one").isEmpty());
        assertThat(charged()).isEqualTo(3540);
    }

    @Test
    void oneWhoseStatusCannotBeWrittenKeepsNoOtherWaiting() {
        api.refuse(STATUS.formatted("a-broken-one"), 500);
        run(
                correction("a-broken-one", "2026-03-02T11:30:00Z", 250_000),
                correction("whole", "2026-03-02T11:40:00Z", 0));

        await().until(() -> told("whole").contains("gpuMinutes"));
        api.allow(STATUS.formatted("a-broken-one"));
        clock.pass(Duration.ofMinutes(1));
        await().until(() -> api.taken.toString().contains(STATUS.formatted("a-broken-one")));
    }

    /** Nobody knows whether it is another one of this name, so nothing is to be said of it. */
    @Test
    void oneThatWasDeletedMeanwhileIsNoFault() {
        api.refuse(STATUS.formatted("gone"), 409);
        run(correction("gone", "2026-03-02T11:30:00Z", 0));

        await().until(() -> !told("gone").isEmpty());
        clock.pass(Duration.ofMinutes(1));
        await().until(() -> charged() == 3540);
    }

    @Test
    void oneThatIsDoneIsNotLookedAtAgain() {
        run(
                correction("node-7", "2026-03-02T11:30:00Z", 0)
                        .replaceFirst(
                                "\"spec\"",
                                "\"status\": {\"written\": \"2026-03-02T11:30:01Z\"}, \"spec\""));

        await().until(watch::isKnown);
        assertThat(watch.pending()).isEmpty();
        assertThat(charged()).isEqualTo(3600);
    }

    /** Of an object that nobody can read nothing is written, and others are. */
    @Test
    void oneThatCannotBeReadKeepsNoOtherWaiting() {
        run(
                correction("a-nonsense", "2026-03-02T11:30:00Z", 0)
                        .replace("2026-03-02T10:01:00Z", "never"),
                correction("whole", "2026-03-02T11:40:00Z", 0));

        await().until(() -> told("whole").contains("gpuMinutes"));
        assertThat(api.to(STATUS.formatted("a-nonsense"))).isEmpty();
    }
}
