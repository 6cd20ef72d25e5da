package io.gpusharing.timekeeper.usage.intake;

import static io.gpusharing.timekeeper.usage.intake.Reports.NOON;
import static io.gpusharing.timekeeper.usage.intake.Reports.agent;
import static io.gpusharing.timekeeper.usage.intake.Reports.agentOn;
import static io.gpusharing.timekeeper.usage.intake.Reports.pod;
import static io.gpusharing.timekeeper.usage.intake.Reports.sidecar;
import static io.gpusharing.timekeeper.usage.intake.Reports.sidecarOf;
import static io.gpusharing.timekeeper.usage.intake.Reports.use;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.timekeeper.usage.UsageReport;
import io.gpusharing.timekeeper.usage.UsageReport.PodUse;
import io.gpusharing.timekeeper.usage.intake.Outcome.Refusal;
import io.gpusharing.timekeeper.usage.intake.Outcome.Refused;
import io.gpusharing.timekeeper.usage.intake.Outcome.Unavailable;
import io.gpusharing.timekeeper.usage.intake.ReportAuthorizer.Entry.Admitted;
import io.gpusharing.timekeeper.usage.intake.ReportAuthorizer.Entry.Rejected;
import io.gpusharing.timekeeper.usage.reporter.Reporter;
import io.gpusharing.timekeeper.usage.reporter.ReportingPod;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class ReportAuthorizerTest {

    private final ReportAuthorizer authorizer =
            new ReportAuthorizer("gpusharing-system/gpusharing-node-agent");
    private final UUID uid = UUID.randomUUID();
    private final UUID other = UUID.randomUUID();
    private final UUID run = UUID.randomUUID();
    private final Map<UUID, ReportingPod> watched =
            new HashMap<>(Map.of(uid, pod(uid), other, pod(other)));

    private ReportAuthorizer.Entry judge(Reporter reporter, UsageReport report) {
        return authorizer.judge(
                reporter,
                report,
                Reports.watched(it -> Optional.ofNullable(watched.get(it)), true),
                NOON);
    }

    @Test
    void aSidecarReportsItsOwnPod() {
        assertThat(judge(sidecarOf(uid), sidecar(run, 1, uid))).isInstanceOf(Admitted.class);
    }

    @Test
    void aTokenOfAnotherPodIsRefused() {
        assertThat(refusal(judge(sidecarOf(other), sidecar(run, 1, uid))))
                .isEqualTo(Refusal.FOREIGN_POD);
    }

    @Test
    void aTokenThatOutlivedItsPodIsRefused() {
        watched.remove(uid);

        assertThat(refusal(judge(sidecarOf(uid), sidecar(run, 1, uid))))
                .isEqualTo(Refusal.POD_NOT_ALIVE);
    }

    @Test
    void aPodThatHasEndedReportsNoMore() {
        watched.put(uid, new ReportingPod(uid, "n1", NOON, 1, true));

        assertThat(refusal(judge(sidecarOf(uid), sidecar(run, 1, uid))))
                .isEqualTo(Refusal.POD_NOT_ALIVE);
    }

    @Test
    void noReportIsRefusedOrTakenBeforeThePodsAreListed() {
        assertComesTooEarly(sidecarOf(uid), sidecar(run, 1, uid));
        assertComesTooEarly(agentOn("n1"), agent(run, 1, new PodUse(uid, List.of())));
    }

    private void assertComesTooEarly(Reporter reporter, UsageReport report) {
        assertThat(
                        authorizer.judge(
                                reporter,
                                report,
                                Reports.watched(it -> Optional.empty(), false),
                                NOON))
                .isInstanceOfSatisfying(
                        Rejected.class,
                        it -> assertThat(it.outcome()).isInstanceOf(Unavailable.class));
    }

    @Test
    void aTenantCannotReportAsAnAgent() {
        assertThat(refusal(judge(sidecarOf(uid), agent(run, 1, new PodUse(uid, List.of())))))
                .isEqualTo(Refusal.WRONG_METER);
    }

    @Test
    void anAgentReportsPodsOnItsNode() {
        ReportAuthorizer.Entry entry =
                judge(
                        agentOn("n1"),
                        agent(
                                run,
                                1,
                                new PodUse(uid, List.of(use(1, 2))),
                                new PodUse(UUID.randomUUID(), List.of(use(1, 2)))));

        assertThat(entry)
                .isInstanceOfSatisfying(
                        Admitted.class,
                        it -> assertThat(it.delivery().pods()).containsOnlyKeys(uid));
    }

    @Test
    void anAgentMayNotReportPodsOfAnotherNode() {
        assertThat(refusal(judge(agentOn("n2"), agent(run, 1, new PodUse(uid, List.of())))))
                .isEqualTo(Refusal.FOREIGN_POD);
    }

    @Test
    void theAnswerToAnAgentWithoutANodeSaysWhatItNeeds() {
        Reporter agent = agentOn("n1");
        Reporter nowhere =
                new Reporter(
                        agent.serviceAccount(),
                        agent.namespace(),
                        agent.podName(),
                        agent.pod(),
                        null);

        assertThat(refusal(judge(nowhere, agent(run, 1, new PodUse(uid, List.of())))))
                .isEqualTo(Refusal.NO_NODE);
    }

    private static Refusal refusal(ReportAuthorizer.Entry entry) {
        return ((Refused) ((Rejected) entry).outcome()).refusal();
    }
}
