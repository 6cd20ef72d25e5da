package io.gpusharing.timekeeper.usage.intake;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes down what node agents say of their nodes now, one after another, so that no report waits
 * for it: while the database is slow, the last of each node's.
 */
final class NodeWrites {

    private static final Logger log = LoggerFactory.getLogger(NodeWrites.class);

    private final String what;
    private final Executor background;
    private final Map<String, Runnable> unwritten = new ConcurrentHashMap<>();
    private final Semaphore writing = new Semaphore(1);

    /** Whether the last write failed; for whoever writes. */
    private boolean failing;

    /**
     * @param what is written, in words
     * @param background runs what asks the database
     */
    NodeWrites(String what, Executor background) {
        this.what = what;
        this.background = background;
    }

    /** Takes the place of what the same node has said and nobody has written yet. */
    void write(String node, Runnable last) {
        unwritten.put(node, last);
        write();
    }

    private void write() {
        if (writing.tryAcquire()) {
            try {
                background.execute(this::writeAll);
            } catch (RuntimeException | Error e) {
                writing.release();
                throw e;
            }
        }
    }

    private void writeAll() {
        try {
            for (String node : List.copyOf(unwritten.keySet())) {
                Runnable last = unwritten.remove(node);
                if (last != null) {
                    last.run();
                    said(null);
                }
            }
        } catch (RuntimeException e) {
            said(e);
        } finally {
            writing.release();
        }
        // What came while it was being released.
        if (!unwritten.isEmpty()) {
            write();
        }
    }

    /** Once each time that it changes: while the database is away, reports come all the time. */
    private void said(@Nullable RuntimeException failure) {
        if (failure != null && !failing) {
            log.atWarn().setCause(failure).log("cannot remember {}", what);
        } else if (failure == null && failing) {
            log.atInfo().log("it is remembered again {}", what);
        }
        failing = failure != null;
    }
}
