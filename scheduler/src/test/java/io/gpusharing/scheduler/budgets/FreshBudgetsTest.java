package io.gpusharing.scheduler.budgets;

import static io.gpusharing.scheduler.testing.BudgetObjects.budget;
import static io.gpusharing.scheduler.testing.BudgetObjects.grant;
import static io.gpusharing.scheduler.testing.BudgetObjects.read;
import static io.gpusharing.scheduler.testing.BudgetObjects.readGrant;
import static io.gpusharing.scheduler.testing.BudgetObjects.word;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.kubernetes.Unreadable;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.scheduler.testing.FakeApiServer;
import io.gpusharing.scheduler.testing.FakeApiServer.Answer;
import io.gpusharing.scheduler.testing.FakeApiServer.Request;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.node.ObjectNode;

class FreshBudgetsTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");
    private static final String LEASE =
            "/apis/coordination.k8s.io/v1/namespaces/gpusharing-system/leases/gpusharing-ledger";
    private static final String TEAM_A = "/apis/gpusharing.io/v1alpha1/gpubudgets/team-a";

    private final Map<String, Answer> answers = new ConcurrentHashMap<>();
    private final List<String> asked = new CopyOnWriteArrayList<>();
    private final FakeApiServer server = new FakeApiServer(this::answer);
    private final KubernetesClient client = server.client();
    private final Budgets budgets = new Budgets(() -> TEN);
    private final KnownGrants grants = new KnownGrants();
    private final UnreadableObjects unreadable = new UnreadableObjects(_ -> {});
    private Optional<String> whyOld = Optional.empty();
    private final FreshBudgets fresh =
            new FreshBudgets(client, "gpusharing-system", grants, () -> whyOld, unreadable);

    @AfterEach
    void close() {
        client.close();
        server.close();
    }

    private Answer answer(Request request) {
        asked.add(request.path());
        return answers.getOrDefault(request.path(), Answer.status(404, "not found"));
    }

    private void stored(String path, ObjectNode object) {
        answers.put(path, Answer.ok(object.toString()));
    }

    private void watched(ObjectNode budget) {
        budgets.onUpdate(read(budget));
    }

    private Optional<String> doubt(String budget) {
        return fresh.doubts(TEN).of(budgets.named(budget).orElseThrow());
    }

    @Test
    void nothingIsDoubtedOfABudgetOnceTheLedgerHasCaughtUp() {
        watched(budget("team-a", -60, TEN));
        stored(LEASE, word(TEN, "team-b"));

        assertThat(doubt("team-a")).isEmpty();
    }

    @Test
    void ofABudgetThatIsBehindNobodyGoesAndOfOthersTheyDo() {
        watched(budget("team-a", -60, TEN));
        watched(budget("team-b", -60, TEN));
        stored(LEASE, word(TEN, "team-b"));

        assertThat(doubt("team-a")).isEmpty();
        assertThat(doubt("team-b")).contains("budget team-b is not published as the ledger has it");
    }

    @Test
    void beforeTheFirstWordEverythingIsDoubted() {
        watched(budget("team-a", -60, TEN));

        assertThat(doubt("team-a"))
                .contains("the timekeeper has not said up to when its ledger has caught up");
    }

    @Test
    void ofManyBudgetsTheWordIsReadOnce() {
        stored(LEASE, word(TEN));
        watched(budget("team-a", -60, TEN));
        watched(budget("team-b", -60, TEN));

        Doubts doubts = fresh.doubts(TEN);

        assertThat(budgets.all()).allSatisfy(it -> assertThat(doubts.of(it)).isEmpty());
        assertThat(asked).containsExactly(LEASE);
    }

    @Test
    void whileTheWatchesAreOldNobodyIsAskedAnything() {
        whyOld = Optional.of("the API server has said nothing of gpugrants for 90 s");

        assertThat(fresh.doubts(TEN).ofAll()).isEqualTo(whyOld);
        assertThat(asked).isEmpty();
    }

    @Test
    void aGrantIsKnownUntilItIsDeleted() {
        watched(budget("team-a", -60, TEN));
        stored(LEASE, word(TEN));
        grants.onUpdate(readGrant(grant("new", "team-a", TEN.plusSeconds(1))));
        grants.onUpdate(readGrant(grant("old", "team-a", TEN.minusSeconds(3600))));

        assertThat(doubt("team-a"))
                .contains("budget team-a has a grant that is newer than its status");

        grants.onDelete(readGrant(grant("new", "team-a", TEN.plusSeconds(1))));
        assertThat(doubt("team-a")).isEmpty();
    }

    @Test
    void withoutTheRightToReadTheWordItSaysWhatIsMissing() {
        answers.put(LEASE, Answer.status(403, "forbidden"));

        assertThat(fresh.doubts(TEN).ofAll())
                .hasValueSatisfying(
                        it -> assertThat(it).contains("gpusharing-ledger", "needs get", "403"));
    }

    @ParameterizedTest
    @ValueSource(ints = {401, 429, 503})
    void anApiServerThatIsAwaySaysNothingOfBudgets(int code) {
        answers.put(LEASE, Answer.status(code, "no"));

        assertThatThrownBy(() -> fresh.doubts(TEN)).isInstanceOf(KubernetesClientException.class);
    }

    @Test
    void aBudgetIsReadAsItIsStoredAndNotAsItIsWatched() {
        watched(budget("team-a", -60, TEN));
        stored(TEAM_A, budget("team-a", 60, TEN));

        assertThat(fresh.afresh("team-a", TEN))
                .hasValueSatisfying(it -> assertThat(it.isOver(TEN)).isFalse());
        assertThat(fresh.afresh("team-b", TEN)).isEmpty();
    }

    @Test
    void aStoredBudgetThatCannotBeReadIsThereAndIsTold() {
        ObjectNode odd = budget("team-a", -60, TEN);
        odd.withObject("spec").put("gpuMinutes", "much");
        stored(TEAM_A, odd);

        assertThat(fresh.afresh("team-a", TEN))
                .hasValueSatisfying(it -> assertThat(it.readable()).isFalse());
        assertThat(unreadable.present()).extracting(Unreadable::name).containsExactly("team-a");
    }
}
