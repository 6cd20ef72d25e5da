package io.gpusharing.timekeeper.usage;

import io.gpusharing.timekeeper.usage.UsageReport.MemoryExceeded;
import java.time.Instant;
import java.util.List;

/** Remembers which pods node agents see hold more GPU memory than they were given. */
public interface MemoryExcessLog {

    /** Whether anybody wants to know it. */
    boolean isWanted();

    /**
     * What an agent says of its node. Whom it does not name holds no more than it was given.
     *
     * @param pods at most one entry for each, of pods that are on this node
     */
    void reported(String node, List<MemoryExceeded> pods, Instant at);
}
