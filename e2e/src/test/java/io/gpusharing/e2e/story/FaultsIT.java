package io.gpusharing.e2e.story;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpusharing.e2e.cluster.Repository;
import io.gpusharing.e2e.cluster.TestCluster;
import io.gpusharing.e2e.installation.Installation;
import io.gpusharing.e2e.installation.Service;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Failures around the services, and inside them. Each test ends all pods and compares the whole
 * ledger with the recount: no second is lost, none is charged twice.
 */
class FaultsIT {

    private static final String TEAM = "faults";

    private static TestCluster cluster;
    private static Installation installation;
    private static Ledger ledger;

    @BeforeAll
    static void start() {
        cluster = TestCluster.start(Repository.root().resolve(".run/faults"));
        installation = Installation.on(cluster, Installation.SHORT_LEASE);
        ledger = Ledger.of(cluster, installation);
        cluster.createNamespace(TEAM);
    }

    @AfterAll
    static void end() {
        cluster.close();
    }

    @BeforeEach
    void somethingRuns() {
        create(pod("runs-through"));
        running("runs-through");
        await().until(() -> ledger.open() == 1);
    }

    @AfterEach
    void theBillIsRight() {
        cluster.kubectl().run("delete", "jobs,pods", "--all", "--namespace=" + TEAM).orFail();
        await("every end is in the ledger")
                .atMost(Duration.ofSeconds(60))
                .ignoreExceptions()
                .until(() -> ledger.open() == 0);
        assertThat(ledger.differences()).isEmpty();
        assertThat(ledger.estimated()).isZero();
    }

    @Test
    void halfAMinuteWithoutTheTimekeeperCostsNoBudgetASecond() {
        Instant stopped = Instant.now();
        installation.timekeeper().program().stop();

        create(pod("began-meanwhile"));
        create(job("ended-meanwhile"));
        running("began-meanwhile");
        await().atMost(Duration.ofSeconds(30)).until(() -> succeeded("ended-meanwhile"));
        await("half a minute has passed")
                .atMost(Duration.ofSeconds(40))
                .until(() -> Duration.between(stopped, Instant.now()).toSeconds() >= 30);
        installation.timekeeper().restart();
        installation.timekeeper().awaitReady();

        await().atMost(Duration.ofSeconds(30)).until(() -> ledger.open() == 2);
    }

    @Test
    void aKilledTimekeeperIsBackAtOnceOnTheDatabaseThatOutlivedIt() {
        ProcessHandle server = installation.database().server().orElseThrow();

        installation.timekeeper().program().kill();
        assertThat(server.isAlive()).as("PostgreSQL outlived it").isTrue();
        installation.timekeeper().restart();
        installation.timekeeper().awaitReady();

        assertThat(installation.database().server()).as("the same PostgreSQL").hasValue(server);
        create(pod("after-the-kill"));
        running("after-the-kill");
        await().atMost(Duration.ofSeconds(30)).until(() -> ledger.open() == 2);
    }

    @Test
    void withoutTheDatabaseAdmissionContinuesAndChargingCatchesUp() {
        assertThat(installation.database().server()).isPresent();
        installation.database().kill();

        create(pod("admitted-meanwhile"));
        running("admitted-meanwhile");
        await("the timekeeper waits, it does not die")
                .during(Duration.ofSeconds(5))
                .atMost(Duration.ofSeconds(20))
                .until(() -> installation.timekeeper().live());
        installation.database().restartIfEnded();
        await("the same timekeeper keeps the ledger again")
                .atMost(Duration.ofSeconds(60))
                .ignoreExceptions()
                .until(() -> ledger.open() == 2);
        installation.timekeeper().program().kill();
        installation.timekeeper().restart();
        installation.timekeeper().awaitReady();

        await().atMost(Duration.ofSeconds(30)).until(() -> ledger.open() == 2);
    }

    @Test
    void bothServicesOutliveTheApiServerAndResume() {
        cluster.killApiServer();
        await("both live through ten seconds without an API server")
                .during(Duration.ofSeconds(10))
                .atMost(Duration.ofSeconds(20))
                .until(() -> installation.webhook().live() && installation.timekeeper().live());
        cluster.resume();
        await().atMost(Duration.ofSeconds(30))
                .until(() -> !cluster.kubectl().run("get", "namespaces").refused());
        installation.awaitAdmission();

        create(pod("afterwards"));
        running("afterwards");

        await().atMost(Duration.ofSeconds(60)).until(() -> ledger.open() == 2);
    }

    /** As GitOps tools do it: the token of a pod that runs is void from then on. */
    @Test
    void aServiceAccountMadeAnewIsNoticedAndItsNextTokenIsUsedAtOnce() {
        Service timekeeper = installation.timekeeper();
        String account = "gpusharing-timekeeper";
        for (String verb : List.of("delete", "create")) {
            cluster.kubectl()
                    .run(verb, "serviceaccount", account, "--namespace=" + Installation.NAMESPACE)
                    .orFail();
        }
        await("it says that the API server refuses it")
                .atMost(Duration.ofSeconds(90))
                .until(() -> !timekeeper.ready());
        assertThat(timekeeper.live()).isTrue();
        assertThat(timekeeper.sum("gpusharing_apiserver_refused_seconds"))
                .isGreaterThanOrEqualTo(45);
        create(pod("began-meanwhile"));
        running("began-meanwhile");

        installation.renewToken(account);

        await("it works again").atMost(Duration.ofSeconds(30)).until(timekeeper::ready);
        await().atMost(Duration.ofSeconds(30)).until(() -> ledger.open() == 2);
    }

    @Test
    void aReplicaTakesOverFromAKilledLeaderAndHandsBackWhenItStops() {
        Service first = installation.timekeeper();
        Service second = installation.replica("second", Map.of());
        try {
            second.awaitReady();
            assertThat(first.leads()).isTrue();
            assertThat(second.leads()).isFalse();

            create(job("ended-meanwhile"));
            first.program().kill();
            create(pod("began-meanwhile"));
            running("began-meanwhile");
            await().atMost(Duration.ofSeconds(40)).until(second::leads);
            await().atMost(Duration.ofSeconds(30)).until(() -> succeeded("ended-meanwhile"));
            await().atMost(Duration.ofSeconds(30)).until(() -> ledger.open() == 2);

            first.restart();
            first.awaitReady();
            assertThat(first.leads()).as("the other one lives").isFalse();
            second.program().stop();
            await("the lease was given back")
                    .atMost(Duration.ofSeconds(20))
                    .pollInterval(Duration.ofMillis(100))
                    .until(first::leads);
        } finally {
            second.program().kill();
        }
    }

    private static void create(String manifest) {
        cluster.kubectl().pipe(manifest, "create", "--namespace=" + TEAM, "-f", "-").orFail();
    }

    private static void running(String pod) {
        cluster.client()
                .pods()
                .inNamespace(TEAM)
                .withName(pod)
                .waitUntilReady(60, TimeUnit.SECONDS);
    }

    private static boolean succeeded(String job) {
        var status =
                cluster.client()
                        .batch()
                        .v1()
                        .jobs()
                        .inNamespace(TEAM)
                        .withName(job)
                        .get()
                        .getStatus();
        return status.getSucceeded() != null && status.getSucceeded() == 1;
    }

    private static String pod(String name) {
        return """
        apiVersion: v1
        kind: Pod
        metadata: {name: %s}
        spec:
          containers:
          - name: cuda
            image: cuda
            resources: {limits: {tencent.com/vcuda-core: 30, tencent.com/vcuda-memory: 20}}
        """
                .formatted(name);
    }

    private static String job(String name) {
        return """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: %s}
        spec:
          template:
            metadata: {annotations: {workshop/run-for: 3s}}
            spec:
              restartPolicy: Never
              containers:
              - name: cuda
                image: cuda
                resources: {limits: {tencent.com/vcuda-core: 100}}
        """
                .formatted(name);
    }
}
