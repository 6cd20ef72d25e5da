package io.gpusharing.deviceplugin;

import io.gpusharing.deviceplugin.cdi.DriverEdits;
import io.gpusharing.deviceplugin.cluster.PodEvents;
import io.gpusharing.deviceplugin.grant.PodGrant;
import java.io.IOException;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says that a reload of systemd has taken the GPUs from containers of this node: this plugin's own
 * has lost them, and with it all others that NVIDIA's runtime gave them by a variable.
 */
final class AccessReport {

    private static final Logger log = LoggerFactory.getLogger(AccessReport.class);

    private final BooleanSupplier lost;
    private final Driver driver;
    private final Supplier<List<PodGrant>> grants;
    private final IsolationReport.Sink node;
    private final Consumer<List<PodGrant>> pods;
    private boolean told;

    /** How containers get at GPUs on this node. */
    interface Driver {
        /** See {@link io.gpusharing.deviceplugin.cdi.DriverFolders#edits}. */
        DriverEdits edits() throws IOException;
    }

    /**
     * @param lost whether this container has lost them
     * @param grants of all pods with GPUs
     * @param node where Events on the Node go
     * @param pods told of those that have lost theirs, too
     */
    AccessReport(
            BooleanSupplier lost,
            Driver driver,
            Supplier<List<PodGrant>> grants,
            IsolationReport.Sink node,
            Consumer<List<PodGrant>> pods) {
        this.lost = lost;
        this.driver = driver;
        this.grants = grants;
        this.node = node;
        this.pods = pods;
    }

    /** Looks, and tells it once: this process is about to end, and its successor has the GPUs. */
    void look() throws IOException {
        if (told || !lost.getAsBoolean()) {
            return;
        }
        told = true;
        node.tell(
                PodEvents.Type.Warning,
                "GpuAccessLost",
                "A reload of systemd has taken the GPUs from containers that run here and have them by NVIDIA_VISIBLE_DEVICES: whatever opens one now fails there. Their pods have to be made anew; docs/provider.md says how to prevent it");
        log.atError().log("a reload of systemd has taken the GPUs from containers of this node");
        // By a CDI specification they are part of what systemd knows of a container.
        if (driver.edits() instanceof DriverEdits.LegacyRuntime) {
            pods.accept(grants.get());
        }
    }
}
