package io.gpusharing.deviceplugin;

import io.gpusharing.deviceplugin.cluster.NodeLabels;
import io.gpusharing.deviceplugin.cluster.NodeLabels.Isolation;
import io.gpusharing.deviceplugin.cluster.PodEvents;
import io.gpusharing.deviceplugin.runtime.Exposure;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says whether containers of this node can reach GPUs that they were not given: by the node's
 * label, an Event on the Node, a metric and the log.
 */
final class IsolationReport {

    private static final Logger log = LoggerFactory.getLogger(IsolationReport.class);

    private static final String MORE = "docs/provider.md says what else depends on it";

    private final Supplier<Exposure> runtime;
    private final Label label;
    private final Sink events;

    /** Read by the thread of the metrics. */
    private volatile @Nullable Exposure told;

    /** The node's label. */
    interface Label {
        /** See {@link NodeLabels#isolation}. */
        void is(Optional<Isolation> isolation);
    }

    /** Where Events on the Node go. */
    interface Sink {
        /** See {@link PodEvents#tellNode}. */
        void tell(PodEvents.Type type, String reason, String message);
    }

    /**
     * @param runtime what can be reached now; cheap to ask
     */
    IsolationReport(Supplier<Exposure> runtime, Label label, Sink events) {
        this.runtime = runtime;
        this.label = label;
        this.events = events;
    }

    /** Looks at the files, and tells what has changed. */
    void look() {
        Exposure now = runtime.get();
        if (!now.equals(told)) {
            told = now;
            tell(now);
        }
    }

    private void tell(Exposure now) {
        switch (now) {
            case Exposure.Closed() -> {
                label.is(Optional.of(Isolation.Closed));
                log.atInfo().log("containers reach no GPU by a variable of their own");
            }
            case Exposure.Open(String reason, String remedy) -> {
                label.is(Optional.of(Isolation.Open));
                events.tell(
                        PodEvents.Type.Warning,
                        "GpusOpen",
                        "Containers can reach GPUs that they were not given: %s. To close that, %s; %s"
                                .formatted(reason, remedy, MORE));
                log.atWarn()
                        .addKeyValue("reason", reason)
                        .addKeyValue("remedy", remedy)
                        .log("containers can reach GPUs that they were not given");
            }
            case Exposure.Unknown(String problem) -> {
                label.is(Optional.empty());
                log.atWarn()
                        .addKeyValue("problem", problem)
                        .log(
                                "whether containers can reach GPUs that they were not given is unknown");
            }
        }
    }

    /** For the metric: whether they can; empty if that is unknown. */
    Optional<Boolean> open() {
        return switch (told) {
            case Exposure.Open _ -> Optional.of(true);
            case Exposure.Closed _ -> Optional.of(false);
            case Exposure.Unknown _ -> Optional.empty();
            case null -> Optional.empty();
        };
    }
}
