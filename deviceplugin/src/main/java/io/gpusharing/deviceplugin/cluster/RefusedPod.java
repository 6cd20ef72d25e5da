package io.gpusharing.deviceplugin.cluster;

import com.google.gson.JsonObject;
import io.gpusharing.ApiTime;
import java.time.Instant;
import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/**
 * A pod that is bound to this node and was refused the start of a container.
 *
 * @param since when the first try began that was refused
 * @param until when a container of it was let start, or it was to end; null while it waits
 * @param isFinal whether no later try can succeed
 * @param ran whether a container of it had been let start before, so that it has used its GPUs
 * @param reason for people
 */
public record RefusedPod(
        String uid,
        String namespace,
        String name,
        Instant since,
        @Nullable Instant until,
        boolean isFinal,
        boolean ran,
        String reason) {

    static final Comparator<RefusedPod> ORDER =
            Comparator.comparing(RefusedPod::since)
                    .thenComparing(RefusedPod::uid)
                    .thenComparing(RefusedPod::ran);

    private static final int LONGEST_REASON = 256;

    public RefusedPod {
        if (reason.length() > LONGEST_REASON) {
            reason = reason.substring(0, LONGEST_REASON - 1) + "…";
        }
    }

    /** The same, that waits no more. */
    public RefusedPod ended(Instant at) {
        return new RefusedPod(uid, namespace, name, since, at, isFinal, ran, reason);
    }

    /** The same, for another reason. */
    public RefusedPod because(boolean nowFinal, String nowReason) {
        return new RefusedPod(uid, namespace, name, since, until, nowFinal, ran, nowReason);
    }

    /** As it is written. */
    public JsonObject json() {
        var json = new JsonObject();
        json.addProperty("podUid", uid);
        json.addProperty("namespace", namespace);
        json.addProperty("pod", name);
        json.addProperty("since", since.toString());
        if (until != null) {
            json.addProperty("until", until.toString());
        }
        json.addProperty("final", isFinal);
        json.addProperty("ran", ran);
        json.addProperty("reason", reason);
        return json;
    }

    /**
     * What {@link #json} wrote.
     *
     * @throws RuntimeException if it did not
     */
    public static RefusedPod of(JsonObject json) {
        return new RefusedPod(
                json.get("podUid").getAsString(),
                json.get("namespace").getAsString(),
                json.get("pod").getAsString(),
                ApiTime.read(json.get("since").getAsString()),
                json.has("until") ? ApiTime.read(json.get("until").getAsString()) : null,
                json.get("final").getAsBoolean(),
                json.get("ran").getAsBoolean(),
                json.get("reason").getAsString());
    }
}
