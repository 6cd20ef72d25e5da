package io.gpusharing.recount;

import io.gpusharing.recount.Removals.Removal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * How long a pod held what it asked for.
 *
 * @param from when it was scheduled
 * @param to when it ended; null while it has not. Where the log leaves several seconds, the last
 * @param removals those of which each may have ended it at a second that the log does not tell
 * @param unknown why the end is not known; null if it is
 */
record Lifetime(
        Instant from, @Nullable Instant to, List<Removal> removals, @Nullable String unknown) {

    /** Of a pod that cannot be read. */
    static final Lifetime UNKNOWN = new Lifetime(Instant.EPOCH, null, List.of(), null);

    /** The life of a pod that was scheduled, by its last state and by what removed it unseen. */
    static Lifetime of(JsonNode pod, Instant from, Removals removals) {
        Instant shown = end(pod);
        Removal removal = removals.of(pod.at("/metadata/uid").asString(""));
        if (terminal(pod) || shown != null) {
            return new Lifetime(from, shown, List.of(), undated(pod));
        }
        if (removal == null) {
            List<Removal> possible =
                    removals.possible(
                            pod.at("/metadata/namespace").asString(""),
                            pod.at("/metadata/name").asString(""),
                            from);
            return new Lifetime(from, null, possible, null);
        }
        Instant end = later(finished(pod), removal.last());
        return new Lifetime(
                from, end, end.equals(removal.last()) ? List.of(removal) : List.of(), null);
    }

    /** Of a lost node's pods, and of some that their kubelet ended, nobody says when they ended. */
    private static @Nullable String undated(JsonNode pod) {
        return terminal(pod) && (finished(pod) == null || untold(pod))
                ? "nobody saw its containers end"
                : null;
    }

    private static boolean untold(JsonNode pod) {
        for (JsonNode status : own(pod)) {
            JsonNode terminated = status.at("/state/terminated");
            if (terminated.isObject()
                    ? terminated.path("finishedAt").asString("").isEmpty()
                    : status.at("/state/running").isObject()
                            || status.at("/lastState/terminated").isObject()) {
                return true;
            }
        }
        return false;
    }

    private static boolean terminal(JsonNode pod) {
        String phase = pod.at("/status/phase").asString("");
        return phase.equals("Succeeded") || phase.equals("Failed");
    }

    /** The metering sidecar's end counts where no other is known, or where it came much later. */
    private static @Nullable Instant finished(JsonNode pod) {
        Instant own = latest(own(pod));
        Instant all = latest(statuses(pod));
        return own != null && all != null && all.isBefore(own.plusSeconds(60)) ? own : all;
    }

    private static @Nullable Instant latest(List<JsonNode> statuses) {
        Instant latest = null;
        for (JsonNode status : statuses) {
            Instant time = Times.read(status.at("/state/terminated/finishedAt"));
            latest = time == null ? latest : later(latest, time);
        }
        return latest;
    }

    private static List<JsonNode> statuses(JsonNode pod) {
        var all = new ArrayList<JsonNode>();
        for (String list :
                new String[] {
                    "containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"
                }) {
            pod.path("status").path(list).forEach(all::add);
        }
        return all;
    }

    /** All but the metering sidecar, which asks for no GPU itself. */
    private static List<JsonNode> own(JsonNode pod) {
        JsonNode name = pod.at("/metadata/annotations").path("gpusharing.io/sidecar");
        var own = new ArrayList<>(statuses(pod));
        for (JsonNode container : pod.at("/spec/initContainers")) {
            if (container.path("name").equals(name)
                    && container.path("restartPolicy").asString("").equals("Always")) {
                own.removeIf(status -> status.path("name").equals(name));
            }
        }
        return own;
    }

    /** The end that the pod itself shows; null if it shows none. */
    private static @Nullable Instant end(JsonNode pod) {
        Instant finished = finished(pod);
        if (terminal(pod)) {
            return finished;
        }
        // With no grace left, the deletion is the removal itself.
        Instant deletion = Times.read(pod.at("/metadata/deletionTimestamp"));
        return deletion == null || pod.at("/metadata/deletionGracePeriodSeconds").asInt(-1) != 0
                ? null
                : later(finished, deletion);
    }

    private static Instant later(@Nullable Instant one, Instant other) {
        return one == null || one.isBefore(other) ? other : one;
    }
}
