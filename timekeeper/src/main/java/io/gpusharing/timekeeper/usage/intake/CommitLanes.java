package io.gpusharing.timekeeper.usage.intake;

import io.gpusharing.timekeeper.usage.reporter.Reporter;
import java.util.List;

/**
 * Several transactions under way at a time, so that one is drawn up while another waits for its
 * disk. What is reported of one node is never in two of them: whether a pod can have used that is
 * judged by all that was reported before.
 */
final class CommitLanes implements AutoCloseable {

    private final List<GroupCommit> lanes;

    CommitLanes(List<GroupCommit> lanes) {
        this.lanes = List.copyOf(lanes);
    }

    /** Returns when the report is durable, or will not be. */
    Outcome submit(Delivery delivery) {
        return lanes.get(Math.floorMod(place(delivery.reporter()).hashCode(), lanes.size()))
                .submit(delivery);
    }

    /** Older clusters do not name a sidecar's node in its token; then its pod stands for itself. */
    private static Object place(Reporter reporter) {
        String node = reporter.node();
        return node == null ? reporter.pod() : node;
    }

    int waiting() {
        return lanes.stream().mapToInt(GroupCommit::waiting).sum();
    }

    @Override
    public void close() {
        lanes.forEach(GroupCommit::close);
    }
}
