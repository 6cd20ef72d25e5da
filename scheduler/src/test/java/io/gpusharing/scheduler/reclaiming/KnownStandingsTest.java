package io.gpusharing.scheduler.reclaiming;

import static io.gpusharing.scheduler.testing.BudgetObjects.budget;
import static io.gpusharing.scheduler.testing.BudgetObjects.grant;
import static io.gpusharing.scheduler.testing.BudgetObjects.read;
import static io.gpusharing.scheduler.testing.BudgetObjects.readGrant;
import static io.gpusharing.scheduler.testing.BudgetObjects.word;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.kubernetes.PodSharing;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.request.grammar.VcudaGrammar;
import io.gpusharing.scheduler.budgets.Budgets;
import io.gpusharing.scheduler.budgets.FreshBudgets;
import io.gpusharing.scheduler.budgets.KnownGrants;
import io.gpusharing.scheduler.cluster.SchedulerName;
import io.gpusharing.scheduler.picture.BudgetAccount;
import io.gpusharing.scheduler.picture.reading.KnownCluster;
import io.gpusharing.scheduler.picture.reading.ReadingSettings;
import io.gpusharing.scheduler.pods.DisruptionBudgets;
import io.gpusharing.scheduler.pods.Gangs;
import io.gpusharing.scheduler.testing.FakeApiServer;
import io.gpusharing.scheduler.testing.FakeApiServer.Answer;
import io.gpusharing.scheduler.testing.FakeApiServer.Request;
import io.gpusharing.sharing.ProviderAsk;
import io.gpusharing.testing.SteppingClock;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class KnownStandingsTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");

    private final List<String> asked = new CopyOnWriteArrayList<>();
    private final FakeApiServer api = new FakeApiServer(this::answer);
    private final KubernetesClient client = api.client();
    private final SteppingClock clock = new SteppingClock(TEN);
    private final UnreadableObjects unreadable = new UnreadableObjects(_ -> {});
    private final Budgets budgets = new Budgets(clock);
    private final KnownGrants grants = new KnownGrants();
    private final ReclaimProperties properties = TwoTeams.properties(null);
    private final ReadingSettings settings =
            properties.reading(
                    "gpusharing-system",
                    Gangs.OF_JOBS,
                    new SchedulerName("gpusharing-scheduler"),
                    PodSharing.NONE,
                    -100);
    private final KnownCluster known =
            new KnownCluster(
                    new RequestGrammars(List.of(new VcudaGrammar())),
                    new ProviderAsk(Map.of()),
                    settings,
                    new DisruptionBudgets());
    private Optional<String> unseen = Optional.empty();
    private final KnownStandings standings =
            new KnownStandings(
                    () -> unseen,
                    known,
                    budgets,
                    new FreshBudgets(
                            client, "gpusharing-system", grants, Optional::empty, unreadable),
                    settings,
                    properties,
                    clock);

    @BeforeEach
    void list() {
        budgets.onUpdate(read(budget("team-a", -60, TEN)));
        budgets.onListed();
        grants.onListed();
    }

    @AfterEach
    void stop() {
        client.close();
        api.close();
    }

    private Answer answer(Request request) {
        asked.add(request.path());
        return Answer.ok(word(TEN).toString());
    }

    private void annotate(String namespace, String key) {
        known.namespaces()
                .onUpdate(
                        new NamespaceBuilder()
                                .withNewMetadata()
                                .withName(namespace)
                                .addToAnnotations(key, "true")
                                .endMetadata()
                                .build());
    }

    private BudgetAccount teamA() {
        return Objects.requireNonNull(standings.now().payer("team-a"));
    }

    @Test
    void whatABudgetSaysCountsWhileNothingIsDoubtedOfIt() {
        assertThat(teamA().isOver()).isTrue();
        assertThat(teamA().doubt()).isNull();
    }

    /** What the timekeeper makes of it is seconds away. */
    @Test
    void aGrantThatIsNewerThanTheStatusIsADoubt() {
        grants.onUpdate(readGrant(grant("g", "team-a", TEN.plusSeconds(1))));

        assertThat(teamA().doubt()).contains("has a grant that is newer");
    }

    @Test
    void theLedgersWordIsAskedForOnceAndOnlyWhereABudgetPays() {
        var present = standings.now();
        assertThat(present.payer("free")).isNull();
        assertThat(asked).isEmpty();

        assertThat(present.payer("team-a")).isEqualTo(present.payer("team-a"));
        assertThat(asked).hasSize(1);
    }

    @Test
    void whileReclaimIsPausedEveryBudgetIs() {
        assertThat(teamA().paused()).isFalse();

        annotate("gpusharing-system", "gpusharing.io/reclaim-paused");

        assertThat(teamA().paused()).isTrue();
    }

    @Test
    void nothingIsSaidWhileNamespacesOrBudgetsHaveNotBeenListed() {
        unseen = Optional.of("namespaces have not been listed yet");

        assertThatIllegalStateException()
                .isThrownBy(standings::now)
                .withMessage("namespaces have not been listed yet");
    }

    @Test
    void anAdministratorProtectsAllPodsOfANamespace() {
        annotate("team-a", "gpusharing.io/do-not-reclaim");

        assertThat(standings.now().protects("team-a")).isTrue();
        assertThat(standings.now().protects("team-b")).isFalse();
    }
}
