package io.gpusharing.timekeeper.provider;

import static io.gpusharing.timekeeper.allocation.PodReader.storable;

import io.gpusharing.ApiTime;
import io.gpusharing.kubernetes.GpuNode;
import io.gpusharing.timekeeper.leader.LeaderTask;
import io.gpusharing.timekeeper.ledger.PodAllocation;
import io.gpusharing.wire.GpuNodeStatus;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A bound pod that the device plugin of its node did not let start, as that plugin says.
 *
 * @param node the plugin's, which alone can write this
 * @param since when the first attempt began that was refused, by the node's clock
 * @param until when a container was let start after all, or half a minute after the pod was told to
 *     end; null while it waits
 * @param isFinal whether no later attempt on this node can succeed
 * @param ran whether a container with GPUs had been let start before
 * @param reason in words
 */
record RefusedStart(
        String node,
        UUID pod,
        String namespace,
        String name,
        Instant since,
        @Nullable Instant until,
        boolean isFinal,
        boolean ran,
        String reason) {

    /** Names of objects, and of namespaces, which are shorter (RFC 1123). */
    private static final Pattern NAME = Pattern.compile("[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?");

    /** Ten thousand years. */
    private static final long MOST_SECONDS = 315_360_000_000L;

    /**
     * A span of whole seconds.
     *
     * @param to not after {@code from} if nothing is left
     */
    record Span(Instant from, Instant to) {
        boolean isEmpty() {
            return !from.isBefore(to);
        }
    }

    /**
     * Those of a node.
     *
     * @param unread takes what is wrong with each entry that cannot be read. Such an entry is left
     *     out, whatever it said before: for a pod of which nothing is known now nobody is evicted
     *     and nothing given back
     */
    static List<RefusedStart> of(GpuNode node, Consumer<RuntimeException> unread) {
        var starts = new ArrayList<RefusedStart>();
        if (node.getStatus() != null && node.getStatus().refused() != null) {
            for (GpuNodeStatus.Refused refused : node.getStatus().refused()) {
                try {
                    starts.add(of(node.getMetadata().getName(), refused));
                } catch (RuntimeException e) {
                    unread.accept(e);
                }
            }
        }
        return starts;
    }

    private static RefusedStart of(String node, GpuNodeStatus.Refused refused) {
        return new RefusedStart(
                node,
                UUID.fromString(refused.podUid()),
                named(refused.namespace()),
                named(refused.pod()),
                notBeforeTheEpoch(instant(refused.since())),
                refused.until() == null ? null : instant(refused.until()),
                refused.isFinal(),
                refused.ran(),
                storable(refused.reason()));
    }

    /** The API server is asked about it, by a path. */
    private static String named(String text) {
        if (!NAME.matcher(text).matches()) {
            throw new IllegalArgumentException(
                    "\"%s\" is no name of a pod or a namespace".formatted(text));
        }
        return text;
    }

    /** PostgreSQL knows no year before 4713 BC, and no pod waits as long. */
    private static Instant notBeforeTheEpoch(Instant instant) {
        return instant.isBefore(Instant.EPOCH) ? Instant.EPOCH : instant;
    }

    private static Instant instant(String text) {
        Instant instant = ApiTime.read(text);
        if (Math.abs(instant.getEpochSecond()) > MOST_SECONDS) {
            throw new DateTimeException("Nothing can be reckoned with " + text);
        }
        return instant;
    }

    /**
     * The seconds of an allocation for which our provider kept the pod from its GPUs; empty until
     * they are over. Parts of a second count as the pod's, and so does what a wrong clock of the
     * node puts before the pod's begin or after its end.
     */
    Optional<Span> notStarted(PodAllocation allocation, Instant now) {
        Instant end = LeaderTask.sooner(until, allocation.until());
        return end == null || end.isAfter(now)
                ? Optional.empty()
                : Optional.of(
                        new Span(
                                later(since.plusNanos(999_999_999), allocation.from()),
                                seconds(end)));
    }

    private static Instant later(Instant one, Instant other) {
        Instant second = seconds(one);
        return second.isBefore(other) ? other : second;
    }

    private static Instant seconds(Instant instant) {
        return instant.truncatedTo(ChronoUnit.SECONDS);
    }
}
