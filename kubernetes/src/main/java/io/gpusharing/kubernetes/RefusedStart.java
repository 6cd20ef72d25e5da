package io.gpusharing.kubernetes;

import io.gpusharing.ApiTime;
import io.gpusharing.wire.GpuNodeStatus;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;
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
public record RefusedStart(
        String node,
        UUID pod,
        String namespace,
        String name,
        Instant since,
        @Nullable Instant until,
        boolean isFinal,
        boolean ran,
        String reason) {

    /** Ten thousand years. */
    private static final long MOST_SECONDS = 315_360_000_000L;

    /**
     * Reads all entries of a node.
     *
     * @param unread takes what is wrong with each entry that cannot be read. Such an entry is left
     *     out, whatever it said before: for a pod of which nothing is known now nobody is evicted
     *     and nothing given back
     */
    public static List<RefusedStart> of(GpuNode node, Consumer<RuntimeException> unread) {
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

    /**
     * Reads all entries of a node.
     *
     * @throws RuntimeException if one of them cannot be read
     */
    public static void requireReadable(GpuNode node) {
        of(
                node,
                problem -> {
                    throw problem;
                });
    }

    private static RefusedStart of(String node, GpuNodeStatus.Refused refused) {
        return new RefusedStart(
                node,
                UUID.fromString(refused.podUid()),
                ObjectName.checked(refused.namespace()),
                ObjectName.checked(refused.pod()),
                notBeforeTheEpoch(instant(refused.since())),
                refused.until() == null ? null : instant(refused.until()),
                refused.isFinal(),
                refused.ran(),
                refused.reason());
    }

    /** No pod has waited for longer, and databases know no year before 4713 BC. */
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
}
