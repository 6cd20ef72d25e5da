package io.gpusharing.kubernetes;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ManagedFieldsEntry;
import io.gpusharing.ApiTime;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.Comparator;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Our own clock, put back to the API server's where it is surely more than {@link
 * LeaseSettings#SKEW} ahead of it: pods are dated by the API server, and nobody is to be charged or
 * evicted by what has not happened yet. A clock that is behind is left alone; what it does, it does
 * late.
 *
 * <p>The API server's clock is seen at one object that is written again and again: {@code
 * managedFields} say when each of its writers changed it last, in whole seconds. What our clock
 * showed before a write was asked for, or before a look that did not find it yet, is earlier than
 * that write. Where it is later by the API server's clock, ours is ahead; by how much at least is
 * the difference, however long requests and answers took.
 */
public final class ApiServerClock extends Clock {

    private static final Duration CUT = Duration.ofSeconds(1);

    private final Clock own;
    private volatile Duration ahead = Duration.ZERO;
    private volatile Duration back = Duration.ZERO;

    // Of the object as it was seen last, by whoever looks.
    private String version = "";
    private Instant looked = Instant.MIN;
    private @Nullable Instant written;

    /**
     * @param own of this machine
     */
    public ApiServerClock(Clock own) {
        this.own = own;
    }

    @Override
    public Instant instant() {
        return own.instant().minus(back);
    }

    @Override
    public ZoneId getZone() {
        return own.getZone();
    }

    @Override
    public Clock withZone(ZoneId zone) {
        throw new UnsupportedOperationException("Only instants are asked for");
    }

    /**
     * By how much our own clock is ahead of the API server's, at least, by the last write that was
     * seen; negative where it is behind, zero where the API server dates no writes.
     */
    public Duration ahead() {
        return ahead;
    }

    boolean isPutBack() {
        return !back.isZero();
    }

    /** What our own clock shows: before a question is asked. */
    Instant before() {
        return own.instant();
    }

    /**
     * This is the answer to a write of ours.
     *
     * @param before what our own clock showed before we asked for it
     */
    <T extends HasMetadata> T wrote(T object, Instant before) {
        compare(object, before);
        remember(object, before);
        return object;
    }

    /**
     * This is the answer to a look at it.
     *
     * @param before what our own clock showed before we asked for it
     */
    void read(HasMetadata object, Instant before) {
        if (!version.isEmpty() && !version.equals(version(object))) {
            compare(object, looked);
        }
        remember(object, before);
    }

    private void remember(HasMetadata object, Instant before) {
        version = version(object);
        looked = before;
        written = lastWrite(object);
    }

    private void compare(HasMetadata object, Instant before) {
        Instant now = lastWrite(object);
        // One that keeps the time of an earlier write, as API servers did once, says nothing.
        if (now != null && !now.equals(written)) {
            ahead = Duration.between(now, before).minus(CUT);
            // Each comparison differs a little, and after a slow answer what it is ahead by lies
            // far between both; time that goes back and forth serves nobody.
            Duration most = Duration.between(now, own.instant());
            if (ahead.minus(back).compareTo(LeaseSettings.SKEW) > 0 || back.compareTo(most) > 0) {
                back = ahead.compareTo(LeaseSettings.SKEW) > 0 ? ahead : Duration.ZERO;
            }
        }
    }

    private static String version(HasMetadata object) {
        return Objects.requireNonNullElse(object.getMetadata().getResourceVersion(), "");
    }

    private static @Nullable Instant lastWrite(HasMetadata object) {
        return object.getMetadata().getManagedFields().stream()
                .map(ManagedFieldsEntry::getTime)
                .filter(Objects::nonNull)
                .map(ApiTime::read)
                .max(Comparator.naturalOrder())
                .orElse(null);
    }
}
