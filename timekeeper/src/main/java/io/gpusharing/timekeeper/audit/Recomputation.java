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
     * @param since the first instant of which all entries are still kept; {@link Instant#MIN} if
     *     none was ever dropped
     */
    Stream<Difference> differences(Instant since);
}
