package io.gpusharing.timekeeper.usage.intake;

import io.gpusharing.timekeeper.usage.UsageReport;
import io.gpusharing.timekeeper.usage.UsageReport.Meter;
import io.gpusharing.timekeeper.usage.UsageReport.PodUse;
import io.gpusharing.timekeeper.usage.intake.Outcome.Refusal;
import io.gpusharing.timekeeper.usage.intake.Outcome.Refused;
import io.gpusharing.timekeeper.usage.intake.Outcome.Unavailable;
import io.gpusharing.timekeeper.usage.reporter.Pods;
import io.gpusharing.timekeeper.usage.reporter.Reporter;
import io.gpusharing.timekeeper.usage.reporter.ReportingPod;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Who may report what: a sidecar of its own living pod, a node agent of pods on its own node. Pure.
 *
 * <p>A sidecar's word for who it is would be a tenant's word, so only the token counts.
 */
final class ReportAuthorizer {

    private final String agentAccount;

    /**
     * @param agentAccount service account of the node agents, {@code namespace/name}
     */
    ReportAuthorizer(String agentAccount) {
        this.agentAccount = agentAccount;
    }

    /** Either the delivery or why it is not let in. */
    sealed interface Entry {
        record Admitted(Delivery delivery) implements Entry {}

        record Rejected(Outcome outcome) implements Entry {}
    }

    /**
     * @param pods the metered pods that our watch knows
     */
    Entry judge(Reporter reporter, UsageReport report, Pods pods, Instant now) {
        boolean isAgent = isAgent(reporter);
        if (isAgent != (report.meter() == Meter.Agent)) {
            return refuse(
                    Refusal.WRONG_METER,
                    "service account %s may not report as %s"
                            .formatted(reporter.serviceAccount(), report.meter()));
        }
        return isAgent ? agent(reporter, report, pods, now) : sidecar(reporter, report, pods, now);
    }

    /** Whether it is a node agent, which no tenant can be. */
    boolean isAgent(Reporter reporter) {
        return reporter.serviceAccount().equals(agentAccount);
    }

    private static Entry sidecar(Reporter reporter, UsageReport report, Pods pods, Instant now) {
        UUID reported = report.pods().getFirst().uid();
        if (!reported.equals(reporter.pod())) {
            return refuse(
                    Refusal.FOREIGN_POD,
                    "the token is bound to pod %s, the report is of %s"
                            .formatted(reporter.pod(), reported));
        }
        boolean known = pods.known();
        ReportingPod pod = pods.find(reported).orElse(null);
        if (pod == null && !known) {
            return notKnownYet();
        }
        if (pod == null || pod.ended()) {
            return refuse(
                    Refusal.POD_NOT_ALIVE, "pod %s is not there, or has ended".formatted(reported));
        }
        return admit(reporter, report, Map.of(reported, pod), now);
    }

    private static Entry notKnownYet() {
        return new Entry.Rejected(new Unavailable("the pods of the cluster are not known yet"));
    }

    /**
     * Pods that are gone, or new, are passed over: the node is ahead or behind of us. Before any
     * are known all would be, as if none of them held too much memory any more.
     */
    private static Entry agent(Reporter reporter, UsageReport report, Pods pods, Instant now) {
        String node = reporter.node();
        if (node == null) {
            return refuse(
                    Refusal.NO_NODE,
                    "the token does not name its node; Kubernetes 1.32 or later is needed");
        }
        if (!pods.known()) {
            return notKnownYet();
        }
        var known = new HashMap<UUID, ReportingPod>();
        for (PodUse reported : report.pods()) {
            ReportingPod pod = pods.find(reported.uid()).orElse(null);
            if (pod != null && !node.equals(pod.node())) {
                return refuse(
                        Refusal.FOREIGN_POD,
                        "pod %s runs on %s, the token is of %s"
                                .formatted(reported.uid(), describe(pod.node()), node));
            }
            if (pod != null) {
                known.put(reported.uid(), pod);
            }
        }
        return admit(reporter, report, known, now);
    }

    private static Entry admit(
            Reporter reporter, UsageReport report, Map<UUID, ReportingPod> pods, Instant now) {
        return new Entry.Admitted(new Delivery(reporter, report, report.digest(), pods, now));
    }

    private static Entry refuse(Refusal refusal, String detail) {
        return new Entry.Rejected(new Refused(refusal, detail));
    }

    private static String describe(@Nullable String node) {
        return node == null ? "no node" : node;
    }
}
