package io.gpusharing.timekeeper.usage.reporter;

import java.util.Optional;
import java.util.UUID;

/** The metered pods, as our watch of the API server knows them. */
public interface Pods {

    Optional<ReportingPod> find(UUID uid);

    /** Whether the watch has seen the cluster yet. */
    boolean known();
}
