package io.gpusharing.timekeeper.provider;

import static io.gpusharing.timekeeper.budget.TestBudgets.monthly;
import static io.gpusharing.timekeeper.provider.NotStartedTimeTest.TEN;
import static io.gpusharing.timekeeper.provider.NotStartedTimeTest.node;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.kubernetes.GpuNode;
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.testing.SteppingClock;
import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.budget.TestBudgets;
import io.gpusharing.timekeeper.cluster.PodEvent.Listed;
import io.gpusharing.timekeeper.ledger.correction.Corrections;
import io.gpusharing.timekeeper.ledger.posting.LedgerWriter;
import io.gpusharing.timekeeper.ledger.posting.LedgerWriters;
import io.gpusharing.timekeeper.ledger.store.Ledger;
import io.gpusharing.timekeeper.testing.FakeApiServer;
import io.gpusharing.timekeeper.testing.Pods;
import io.gpusharing.timekeeper.testing.TestDatabase;
import io.gpusharing.wire.GpuNodeStatus;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class NotStartedCorrectorTest {

    private final FakeApiServer api = new FakeApiServer();
    private final SteppingClock clock = new SteppingClock(TEN);
    private final TestDatabase database = TestDatabase.create();
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final Budgets budgets = TestBudgets.on(database, Duration.ofHours(1), clock);
    private final LedgerWriter writer =
            LedgerWriters.on(database, budgets, registry, Leadership.alone(), clock);
    private final Ledger ledger = LedgerWriters.ledger(database);
    private final List<GpuNode> observed = new ArrayList<>();
    private final RefusedStartWatch watch =
            new RefusedStartWatch(
                    api.client(), new UnreadableObjects(object -> {}), writer, observed::add);
    private final NotStartedCorrector corrector =
            new NotStartedCorrector(
                    watch,
                    new NotStartedCorrections(
                            new Corrections(database.rows(), ledger),
                            ledger,
                            database.transactions()),
                    budgets,
                    writer,
                    registry,
                    Leadership.alone(),
                    clock);
    private final Pods pod = Pods.waiting("team-a", 100, 0).boundAt(TEN);

    NotStartedCorrectorTest() throws IOException {}

    @AfterEach
    void stop() {
        writer.stop();
        api.close();
    }

    @Test
    void correctsBetweenTwoPostingsAndThenRests() {
        ledger.open(TEN);
        clock.pass(Duration.ofSeconds(200));
        writer.between(
                () -> TestBudgets.exist(budgets, List.of(monthly("a", TEN, "6000", "team-a"))));
        writer.start();
        writer.begin();
        Pods ended = pod.finishedAt(TEN.plusSeconds(100));
        writer.onEvent(new Listed(List.of(ended.facts()), Set.of(), "1", false, clock.instant()));
        await().atMost(Duration.ofSeconds(20)).until(budgets::settled);
        watch.onUpdate(
                node(
                        Pods.NODE,
                        new GpuNodeStatus.Refused(
                                pod.uid().toString(),
                                "team-a",
                                "train",
                                TEN.plusSeconds(10).toString(),
                                null,
                                false,
                                false,
                                "No GPU has room")));

        assertThat(observed).as("those who price pods by their GPUs see it, too").hasSize(1);
        assertThat(corrector.work(clock.instant())).isEqualTo(clock.instant().plusSeconds(10));

        await().atMost(Duration.ofSeconds(20)).until(() -> corrector.work(clock.instant()) == null);
        assertThat(registry.counter("gpusharing.provider.not.started").count()).isEqualTo(90);
        await().atMost(Duration.ofSeconds(20))
                .untilAsserted(() ->
                        assertThat(budgets.state("a").orElseThrow().used(clock.instant()))
                                .isEqualTo(new GpuTime(10_000_000)));
    }
}
