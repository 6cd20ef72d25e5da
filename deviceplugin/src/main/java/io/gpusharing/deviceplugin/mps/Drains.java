package io.gpusharing.deviceplugin.mps;

import io.gpusharing.deviceplugin.mps.CooperativeMps.Processes;
import io.gpusharing.deviceplugin.mps.SharedGpu.Drained;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends the clients of pods that are about to be killed, beside whatever else is done: a daemon may
 * take its time.
 */
final class Drains {

    private static final Logger log = LoggerFactory.getLogger(Drains.class);

    private final Processes processes;
    private final Executor executor;
    private final Map<SharedGpu.Drain, Long> counts = new ConcurrentHashMap<>();
    private final Set<Drain> running = ConcurrentHashMap.newKeySet();

    /** That a pod's clients on a GPU are being ended just now. */
    private record Drain(String gpu, String podUid) {}

    /**
     * @param executor runs what may take long
     */
    Drains(Processes processes, Executor executor) {
        this.processes = processes;
        this.executor = executor;
    }

    /** Ends a pod's clients on a GPU, unless that is being done. */
    void begin(SharedGpu gpu, String podUid) {
        var drain = new Drain(gpu.folder().gpu(), podUid);
        if (!running.add(drain)) {
            return;
        }
        executor.execute(() -> {
            try {
                ended(drain, drained(gpu, podUid));
            } finally {
                running.remove(drain);
            }
        });
    }

    private Drained drained(SharedGpu gpu, String podUid) {
        try {
            return gpu.drain(podUid, processes.of(podUid));
        } catch (IOException e) {
            return new Drained(
                    SharedGpu.Drain.Failed, "its processes cannot be found: " + e.getMessage());
        }
    }

    private void ended(Drain drain, Drained how) {
        counts.merge(how.result(), 1L, Long::sum);
        switch (how.result()) {
            case None -> {}
            case Terminated ->
                    log.atInfo()
                            .addKeyValue("gpu", drain.gpu())
                            .addKeyValue("podUid", drain.podUid())
                            .log("MPS clients of a pod that is to end were ended");
            case Failed ->
                    log.atWarn()
                            .addKeyValue("gpu", drain.gpu())
                            .addKeyValue("podUid", drain.podUid())
                            .addKeyValue("reason", how.reason())
                            .log("MPS clients of a pod that is to end cannot be ended");
        }
    }

    /** How often it went how. */
    Map<String, Long> counts() {
        var named = new HashMap<String, Long>();
        counts.forEach((result, count) -> named.put(result.name(), count));
        return Map.copyOf(named);
    }
}
