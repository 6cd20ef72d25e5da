package io.gpusharing.deviceplugin.gpu;

import io.gpusharing.nvml.NvmlCall;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What others see of the GPUs. While the thread that asks NVML gets no answer, none of them is
 * healthy: nobody knows, and what starts on one would wait for the same driver.
 */
final class Snapshot {

    private static final Logger log = LoggerFactory.getLogger(Snapshot.class);

    private static final long SECOND = 1_000_000;
    private static final long AT_REST = Long.MIN_VALUE;

    private final Runnable changed;
    private List<NodeGpu> found;
    private @Nullable String hanging;
    private long workingSince = AT_REST;
    private long patience;
    private volatile List<NodeGpu> shown;

    /**
     * @param changed told when others see something else than before
     */
    Snapshot(List<NodeGpu> first, Runnable changed) {
        this.changed = changed;
        this.found = first;
        this.shown = first;
    }

    List<NodeGpu> shown() {
        return shown;
    }

    /**
     * NVML is asked from now on.
     *
     * @param patience how long it may take, in microseconds
     */
    synchronized void begin(long now, long patience) {
        this.workingSince = now;
        this.patience = patience;
    }

    /** NVML has answered. */
    void end() {
        boolean hung;
        synchronized (this) {
            hung = hanging != null;
            workingSince = AT_REST;
            hanging = null;
        }
        if (hung) {
            log.info("the driver answers again");
            show();
        }
    }

    /**
     * Looks whether NVML takes too long. For another thread than the one that asks.
     *
     * @param inside what it is asked
     */
    void watch(long now, @Nullable NvmlCall inside) {
        synchronized (this) {
            if (workingSince == AT_REST || now - workingSince < patience || hanging != null) {
                return;
            }
            String call = inside == null ? "" : " " + inside.symbols().getFirst();
            hanging =
                    "the driver has not answered%s for %d s"
                            .formatted(call, (now - workingSince) / SECOND);
            log.atWarn().addKeyValue("reason", hanging).log("the driver hangs");
        }
        show();
    }

    /**
     * The GPUs as they are found now.
     *
     * @return whether that was told to anybody
     */
    boolean set(List<NodeGpu> now) {
        synchronized (this) {
            found = now;
        }
        return show();
    }

    private boolean show() {
        synchronized (this) {
            String problem = hanging;
            List<NodeGpu> now =
                    problem == null
                            ? found
                            : found.stream()
                                    .map(gpu -> new NodeGpu(gpu.physical(), problem))
                                    .toList();
            if (now.equals(shown)) {
                return false;
            }
            shown = now;
        }
        tell();
        return true;
    }

    void tell() {
        try {
            changed.run();
        } catch (RuntimeException e) {
            log.atError().setCause(e).log("cannot tell of a change of GPUs");
        }
    }
}
