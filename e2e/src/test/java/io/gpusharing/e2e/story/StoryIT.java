package io.gpusharing.e2e.story;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.gpusharing.e2e.cluster.Repository;
import io.gpusharing.e2e.cluster.TestCluster;
import io.gpusharing.e2e.installation.Chart;
import io.gpusharing.e2e.installation.Installation;
import io.gpusharing.e2e.installation.Service;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/** The demo's story, and afterwards its bill. */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class StoryIT {

    private static TestCluster cluster;
    private static Installation installation;
    private static Story story;
    private static ClusterSnapshot snapshot;
    private static Ledger ledger;
    private static Service evictor;

    @BeforeAll
    static void start() {
        cluster = TestCluster.start(Repository.root().resolve(".run/story"));
        var properties = new HashMap<>(Story.PROPERTIES);
        properties.put("GPUSHARING_BUDGETS_ANNOTATEPODS", "true");
        installation = Installation.on(cluster, properties);
        Chart.set(cluster, "timekeeper.annotatePods=true", "rbac-timekeeper.yaml");
        evictor = installation.startEvictor();
        story = new Story(cluster, installation, Narrator.silent());
        snapshot = new ClusterSnapshot(cluster, Narrator.silent());
        ledger = Ledger.of(cluster, installation);
    }

    @AfterAll
    static void end() {
        cluster.close();
    }

    @Test
    @Order(1)
    void aPodThatAsksForHalfAGpuIsCompletedAndRuns() {
        story.halfAGpu();
    }

    @Test
    @Order(2)
    void requestsThatCannotWorkAreRefusedAtTheirCreation() {
        story.whatCannotWork();
    }

    @Test
    @Order(3)
    void usedTimeIsShareTimesTime() {
        story.theClockRuns();
    }

    @Test
    @Order(4)
    void theBudgetIsExhaustedInThePredictedSecondAndPodsKeepRunning() {
        story.theBudgetEnds();

        Instant end = requireNonNull(snapshot.status("team-a").exhaustedAt());
        for (String pod : new String[] {"cuda", "trainer", "late"}) {
            await(pod + " carries the end of its budget")
                    .atMost(Duration.ofSeconds(30))
                    .until(
                            () -> exhaustedAtAnnotation(pod),
                            end.truncatedTo(ChronoUnit.SECONDS).toString()::equals);
        }
    }

    /** What the timekeeper has written on a pod of team-a; empty if nothing. */
    private static String exhaustedAtAnnotation(String pod) {
        return requireNonNull(snapshot.pod("team-a", pod))
                .getMetadata()
                .getAnnotations()
                .getOrDefault("gpusharing.io/budget-exhausted-at", "");
    }

    @Test
    @Order(5)
    void aPodInBudgetIsServedFirst() {
        story.aPodInBudgetIsServedFirst();
    }

    @Test
    @Order(6)
    void aResourceQuotaLimitsWhatIsHeldAtOnce() {
        story.theQuota();
    }

    @Test
    @Order(7)
    void measuredUseIsShownBesideTheCharge() {
        story.whatWasReallyUsed();
        story.theTable();
    }

    @Test
    @Order(8)
    void aPodThatWaitedIsChargedFromItsBinding() {
        story.waitingCostsNothing();
    }

    /** team-a is over budget and still holds half a GPU, so that a pod could be evicted. */
    @Test
    @Order(9)
    void nobodyIsEvictedForWhoIsOverBudgetOrCouldNotFitAnyway() {
        long before = snapshot.evictions();
        wants("team-a", "more", 100);
        wants("default", "giant", 800);

        await("reclaim has considered both")
                .atMost(Duration.ofSeconds(60))
                .until(() -> waits("waiter_over_budget") && waits("no_node"));
        cluster.kubectl().run("delete", "pod", "more", "--namespace=team-a").orFail();
        cluster.kubectl().run("delete", "pod", "giant", "--namespace=default").orFail();

        assertThat(snapshot.evictions()).isEqualTo(before);
    }

    private static void wants(String namespace, String name, int cores) {
        cluster.client()
                .pods()
                .resource(
                        new PodBuilder()
                                .withNewMetadata()
                                .withNamespace(namespace)
                                .withName(name)
                                .endMetadata()
                                .withNewSpec()
                                .addNewContainer()
                                .withName("cuda")
                                .withImage("nvidia/cuda:12.6.3-base-ubuntu24.04")
                                .withNewResources()
                                .addToLimits(
                                        "tencent.com/vcuda-core",
                                        new Quantity(Integer.toString(cores)))
                                .endResources()
                                .endContainer()
                                .endSpec()
                                .build())
                .create();
    }

    private static boolean waits(String reason) {
        return evictor.shows("gpusharing_reclaim_waiting_pods{reason=\"%s\"} 1".formatted(reason));
    }

    @Test
    @Order(10)
    void aGrantTakesTheEndOfTheBudgetFromItsPods() {
        assertThat(exhaustedAtAnnotation("cuda")).isNotEmpty();
        cluster.kubectl()
                .pipe(
                        """
                        apiVersion: gpusharing.io/v1alpha1
                        kind: GpuGrant
                        metadata: {name: team-a-more}
                        spec: {budget: team-a, gpuMinutes: "60", reason: paper deadline}
                        """,
                        "create",
                        "-f",
                        "-")
                .orFail();

        await("the annotation is gone")
                .atMost(Duration.ofSeconds(30))
                .until(() -> exhaustedAtAnnotation("cuda").isEmpty());
    }

    @Test
    @Order(11)
    void theLedgerEqualsTheRecountOfTheAuditLog() {
        for (String team : new String[] {"team-a", "team-b"}) {
            cluster.kubectl().run("delete", "pods", "--all", "--namespace=" + team).orFail();
        }
        await("every pod's end is in the ledger")
                .atMost(Duration.ofSeconds(30))
                .until(() -> ledger.open() == 0);

        assertThat(ledger.differences()).isEmpty();
        assertThat(ledger.total()).as("micro-GPU-seconds in all").isPositive();
        assertThat(ledger.estimated()).isZero();
    }

    @Test
    @Order(12)
    void oneMicroGpuSecondTooMuchIsFound() {
        ledger.tamper("trainer", 1);
        try {
            assertThat(ledger.differences())
                    .singleElement()
                    .satisfies(found -> {
                        assertThat(found.pod()).isEqualTo("team-a/trainer");
                        assertThat(found.ledger()).isEqualTo(found.recount() + 1);
                    });
        } finally {
            ledger.tamper("trainer", -1);
        }
    }
}
