package io.gpusharing.scheduler.budgets;

import static io.gpusharing.scheduler.testing.BudgetObjects.budget;
import static io.gpusharing.scheduler.testing.BudgetObjects.grant;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.kubernetes.Unreadable;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.scheduler.testing.FakeApiServer;
import io.gpusharing.scheduler.testing.FakeApiServer.Answer;
import io.gpusharing.testing.SteppingClock;
import java.time.Instant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.ObjectNode;

class BudgetWatchTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");

    private final SteppingClock clock = new SteppingClock(TEN);
    private final FakeApiServer server =
            new FakeApiServer(request ->
                    Answer.list(
                            request.path().endsWith("/gpubudgets")
                                    ? budget("team-a", 60, TEN) + "," + odd()
                                    : grant("more", "team-a", TEN) + "," + shapeless()));
    private final KubernetesClient client = server.client();
    private final UnreadableObjects unreadable = new UnreadableObjects(_ -> {}, clock);
    private final Budgets budgets = new Budgets(clock);
    private final KnownGrants grants = new KnownGrants();
    private final BudgetWatch watch =
            new BudgetWatch(
                    new BudgetsConfiguration().budgetInformer(client, unreadable),
                    new BudgetsConfiguration().grantInformer(client, unreadable),
                    budgets,
                    grants,
                    clock);

    private static ObjectNode odd() {
        ObjectNode odd = budget("team-b", 60, TEN);
        odd.withObject("spec").put("gpuMinutes", "much");
        return odd;
    }

    /** As no schema would let it be. */
    private static ObjectNode shapeless() {
        ObjectNode shapeless = grant("shapeless", "team-b", TEN);
        shapeless.withObject("spec").putArray("gpuMinutes").add(1);
        shapeless.withObject("spec").putObject("budget");
        return shapeless;
    }

    @AfterEach
    void close() {
        watch.stop();
        client.close();
        server.close();
    }

    private void begin() {
        watch.start();
        await().until(() ->
                budgets.areKnown() && grants.areKnown() && server.watches().size() == 2);
    }

    @Test
    void nothingMayBeActedOnBeforeAllIsListed() {
        assertThat(watch.whyOld()).contains("budgets and grants have not been listed yet");
    }

    @Test
    void whatIsListedIsKnownAndWhatCannotBeReadIsTold() {
        begin();

        assertThat(watch.whyOld()).isEmpty();
        assertThat(budgets.ofNamespace("team-a")).isPresent();
        assertThat(budgets.ofNamespace("team-b"))
                .hasValueSatisfying(it -> assertThat(it.readable()).isFalse());
        assertThat(unreadable.present())
                .extracting(Unreadable::name)
                .containsExactlyInAnyOrder("team-b", "shapeless");
        assertThat(grants.byBudget()).containsExactly(entry("team-a", TEN));
    }

    @Test
    void whileTheApiServerSaysNothingNobodyKnowsWhatWasGranted() {
        begin();
        assertThat(watch.whyOld()).isEmpty();

        clock.set(TEN.plusSeconds(90));
        assertThat(watch.whyOld()).isEmpty();
        clock.set(TEN.plusSeconds(91));

        assertThat(watch.whyOld())
                .contains("the API server has said nothing of gpubudgets and gpugrants for 90 s");
    }
}
