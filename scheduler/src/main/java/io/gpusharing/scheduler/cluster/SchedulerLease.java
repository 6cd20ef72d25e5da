package io.gpusharing.scheduler.cluster;

import java.util.Optional;

/** Whether the kube-scheduler beside us is the one of several that places pods now. */
public interface SchedulerLease {

    /** Why nothing is done for it, for people; empty where it leads. */
    Optional<String> whyNot();
}
