package io.gpusharing.timekeeper.usage.intake;

import static io.gpusharing.timekeeper.usage.intake.ClusterSigner.claims;
import static io.gpusharing.timekeeper.usage.intake.Reports.NOON;
import static io.gpusharing.timekeeper.usage.intake.Reports.PROPERTIES;
import static io.gpusharing.timekeeper.usage.intake.Reports.sent;
import static io.gpusharing.timekeeper.usage.intake.Reports.sidecar;
import static io.gpusharing.timekeeper.usage.intake.Reports.sidecarOf;
import static io.gpusharing.timekeeper.usage.intake.Reports.use;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.gpusharing.kubernetes.PodReader;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.request.grammar.VcudaGrammar;
import io.gpusharing.testing.SteppingClock;
import io.gpusharing.timekeeper.cluster.ClusterViews;
import io.gpusharing.timekeeper.usage.intake.Outcome.Accepted;
import io.gpusharing.timekeeper.usage.intake.Outcome.Refusal;
import io.gpusharing.timekeeper.usage.intake.Outcome.Refused;
import io.gpusharing.timekeeper.usage.intake.ReportAuthorizer.Entry.Admitted;
import io.gpusharing.timekeeper.usage.intake.ReportAuthorizer.Entry.Rejected;
import io.gpusharing.timekeeper.usage.intake.ReportReader.MalformedReportException;
import io.gpusharing.timekeeper.usage.reporter.ClusterKeys;
import io.gpusharing.timekeeper.usage.reporter.ReporterTokens;
import io.gpusharing.timekeeper.usage.reporter.WatchedPods;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.springframework.security.oauth2.server.resource.InvalidBearerTokenException;

/**
 * What was wrong with usage reports in the proof of concept (timozerrer/kubernetes-gpusharing) that
 * the timekeeper follows. Each test is named after the defect that must not come back.
 */
class OriginalDefectsTest {

    private final UUID pod = UUID.randomUUID();
    private final UUID run = UUID.randomUUID();
    private final UsageReportRepository reports =
            new UsageReportRepository(
                    ReportDatabase.rows("c1"), ReportDatabase.transaction(), PROPERTIES);

    /** A negative amount gave time back, so any user could refill a budget. */
    @Test
    void defect29_negativeAndHugeAmountsWereTaken() {
        assertThatThrownBy(() -> new ReportReader().read(report(-1000)))
                .isInstanceOf(MalformedReportException.class)
                .hasMessageContaining("gpuMicroseconds");

        List<Outcome> huge =
                reports.post(
                        List.of(
                                sent(
                                        sidecar(run, 1, pod, use(9_999, 9_999)),
                                        Reports.pod(pod),
                                        Duration.ofMinutes(1))));

        assertThat(((Refused) huge.getFirst()).refusal()).isEqualTo(Refusal.IMPOSSIBLE_AMOUNT);
    }

    /** Reporters were not authenticated, so any pod could exhaust any namespace. */
    @Test
    void defect30_whoReportedWasNeverAsked() {
        ClusterSigner cluster = ClusterSigner.ec();
        var tokens =
                new ReporterTokens(
                        new ClusterKeys(cluster),
                        token -> Optional.empty(),
                        new SteppingClock(NOON));
        String forged = ClusterSigner.ec().sign(claims(pod, NOON).build());

        assertThatThrownBy(() -> tokens.reporter(forged))
                .isInstanceOf(InvalidBearerTokenException.class);
        assertThatThrownBy(() -> tokens.reporter("none"))
                .isInstanceOf(InvalidBearerTokenException.class);
        assertThat(tokens.reporter(cluster.sign(claims(pod, NOON).build())).pod()).isEqualTo(pod);
    }

    /** Whoever knew a pod's name could report for it, and have it deleted. */
    @Test
    void defect31_anybodyCouldReportForAnybodysPod() {
        UUID victim = UUID.randomUUID();

        ReportAuthorizer.Entry entry =
                authorizer()
                        .judge(
                                sidecarOf(pod),
                                sidecar(run, 1, victim, use(9_999, 9_999)),
                                Reports.watched(uid -> Optional.of(Reports.pod(uid)), true),
                                NOON);

        assertThat(((Refused) ((Rejected) entry).outcome()).refusal())
                .isEqualTo(Refusal.FOREIGN_POD);
    }

    /** A pod whose containers had no status yet was an error, of which the sidecar died. */
    @Test
    void defect33_aPodWithoutContainerStatusesWasAnError() {
        assertThat(reportOf("{}")).isEqualTo(new Accepted(false));
        assertThat(reportOf("{phase: Pending}")).isEqualTo(new Accepted(false));
        assertThat(reportOf("{phase: Pending, containerStatuses: [{name: cuda}]}"))
                .isEqualTo(new Accepted(false));
    }

    /** While an image was pulled the meter was stopped, and the pod then ran unmetered. */
    @Test
    void defect34_aContainerThatStillWaitedEndedTheMeter() {
        assertThat(
                        reportOf(
                                """
                                {phase: Pending, containerStatuses: [
                                  {name: cuda, state: {waiting: {reason: ContainerCreating}}}]}
                                """))
                .isEqualTo(new Accepted(false));
    }

    /** So did a container between two of its restarts. */
    @Test
    void defect35_aContainerInBackOffEndedTheMeter() {
        for (String state :
                List.of(
                        "{waiting: {reason: CrashLoopBackOff}}",
                        "{terminated: {exitCode: 1, finishedAt: '2026-03-02T12:00:20Z'}}")) {
            assertThat(
                            reportOf(
                                    """
                                    {phase: Running, containerStatuses: [{name: cuda, state: %s}]}
                                    """
                                            .formatted(state)))
                    .isEqualTo(new Accepted(false));
        }
    }

    /**
     * What becomes of the report of a pod's sidecar a minute after the pod was made.
     *
     * @param status what the API server reports of the pod
     */
    private Outcome reportOf(String status) {
        UUID uid = UUID.randomUUID();
        var grammars = new RequestGrammars(List.of(new VcudaGrammar()));
        Pod reported =
                Serialization.unmarshal(
                        """
                        apiVersion: v1
                        kind: Pod
                        metadata:
                          name: train
                          namespace: team-a
                          uid: %s
                          creationTimestamp: "%s"
                        spec:
                          nodeName: gpu-1
                          containers:
                          - name: cuda
                            resources:
                              limits: {tencent.com/vcuda-core: "50", tencent.com/vcuda-memory: "15"}
                        status: %s
                        """
                                .formatted(uid, NOON, status.strip().replace("\n", " ")),
                        Pod.class);
        var watched =
                new WatchedPods(
                        ClusterViews.withPod(new PodReader(grammars::reads).read(reported)),
                        grammars);
        ReportAuthorizer.Entry entry =
                authorizer()
                        .judge(
                                sidecarOf(uid),
                                sidecar(run, 1, uid, use(10, 30)),
                                Reports.watched(watched::find, true),
                                NOON.plusSeconds(60));
        return reports.post(List.of(((Admitted) entry).delivery())).getFirst();
    }

    private static ReportAuthorizer authorizer() {
        return new ReportAuthorizer("gpusharing-system/gpusharing-node-agent");
    }

    private byte[] report(long gpuMicroseconds) {
        return """
        {"run": "%s", "sequence": 1, "meter": "Sidecar", "pods": [{"uid": "%s", "devices": [
          {"uuid": "GPU-0", "basis": "Process", "basisReason": "", "gpuMicroseconds": %d,
           "memoryByteSeconds": 0, "coveredMicroseconds": 1000000, "uncoveredMicroseconds": 0}]}]}
        """
                .formatted(run, pod, gpuMicroseconds)
                .getBytes(UTF_8);
    }
}
