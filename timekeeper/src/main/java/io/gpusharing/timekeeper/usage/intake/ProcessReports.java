package io.gpusharing.timekeeper.usage.intake;

import io.gpusharing.timekeeper.usage.RunningProcesses;
import io.gpusharing.timekeeper.usage.UsageReport.PodProcesses;
import io.gpusharing.timekeeper.usage.UsageReport.Running;
import java.util.List;
import java.util.concurrent.Executor;

/** Remembers which processes node agents see on the GPUs of their nodes. */
final class ProcessReports {

    private final RunningProcesses processes;
    private final boolean wanted;
    private final NodeWrites writes;

    /**
     * @param wanted whether anybody can ask
     * @param background runs what asks the database, so that no report waits for it
     */
    ProcessReports(RunningProcesses processes, boolean wanted, Executor background) {
        this.processes = processes;
        this.wanted = wanted;
        this.writes = new NodeWrites("which processes run on GPUs", background);
    }

    /** An agent is believed about pods of its own node alone, which were looked at already. */
    void note(Delivery delivery) {
        String node = delivery.reporter().node();
        Running told = delivery.report().running();
        if (!wanted || node == null || told == null) {
            return;
        }
        List<PodProcesses> pods =
                told.pods().stream().filter(pod -> delivery.pods().containsKey(pod.uid())).toList();
        writes.write(
                node,
                () -> processes.reported(node, new Running(told.whole(), pods), delivery.at()));
    }
}
