package io.gpusharing.timekeeper.usage;

import java.util.Optional;
import java.util.UUID;

/** The metered pods, as our watch of the API server knows them. */
interface Pods {

    Optional<ReportingPod> find(UUID uid);

    /** Whether the watch has seen the cluster yet. */
    boolean known();
}
