package io.gpusharing.timekeeper.audit;

import io.gpusharing.timekeeper.audit.Verification.Difference;
import java.time.Instant;
import java.util.stream.Stream;

/** Recomputes from the entries what somebody else than the ledger stores beside them. */
@FunctionalInterface
public interface Recomputation {

    /**
     * What is not as recomputed; read while it is asked for, from the caller's state of the
     * database.
     *
     * @param kept the first instant of which all entries are still kept; the epoch if none was ever
     *     dropped
     * @param written what was written before this was recomputed earlier, and nothing differed
     */
    Stream<Difference> differences(Instant kept, Instant written);
}
