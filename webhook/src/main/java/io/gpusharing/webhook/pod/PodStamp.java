package io.gpusharing.webhook.pod;

import static io.gpusharing.Names.BUDGET_ANNOTATION;
import static io.gpusharing.Names.METERED_LABEL;
import static io.gpusharing.Names.REQUEST_ANNOTATION;
import static io.gpusharing.Names.SIDECAR_ANNOTATION;
import static io.gpusharing.Names.STANDING_ANNOTATION;
import static io.gpusharing.Names.STANDING_AS_OF_ANNOTATION;

import io.gpusharing.webhook.cluster.NamespaceStanding;
import io.gpusharing.webhook.injection.PodPatch;
import io.gpusharing.webhook.review.PodView;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The keys that only we write into a pod: what was judged, and what it came from.
 *
 * @param annotations value of each annotation, null where it must not be there
 */
record PodStamp(Map<String, @Nullable String> annotations) {

    /** As long as a request to the API server can take. */
    private static final Duration OWN_REQUEST = Duration.ofSeconds(60);

    private static final List<String> KEYS =
            List.of(
                    BUDGET_ANNOTATION,
                    STANDING_ANNOTATION,
                    STANDING_AS_OF_ANNOTATION,
                    REQUEST_ANNOTATION,
                    SIDECAR_ANNOTATION);

    private static final String METERED = "true";

    /** Of a pod that is only counted: it gets the label and nothing else. */
    static final PodStamp LABEL_ALONE = new PodStamp(Map.of());

    /**
     * @param request the amounts that were judged
     * @param sidecar name of the injected container; null if there is none
     */
    static PodStamp of(NamespaceStanding standing, String request, @Nullable String sidecar) {
        var annotations = new HashMap<String, @Nullable String>();
        annotations.put(BUDGET_ANNOTATION, standing.budget());
        annotations.put(STANDING_ANNOTATION, standing.standing().word());
        annotations.put(
                STANDING_AS_OF_ANNOTATION,
                standing.asOf().truncatedTo(ChronoUnit.MILLIS).toString());
        annotations.put(REQUEST_ANNOTATION, request);
        annotations.put(SIDECAR_ANNOTATION, sidecar);
        return new PodStamp(annotations);
    }

    /**
     * Whether the pod has a stamp of just now: we have judged it within the same request, if it
     * comes again because another webhook has changed it or because we are registered twice. Nobody
     * knows whether it is ours. So nothing of it counts: the pod is decided again, and what differs
     * is written over.
     */
    static boolean isFresh(PodView pod, Instant now) {
        Instant stamped = asOf(pod);
        // A replica whose clock is ahead may have written it.
        return stamped != null && Duration.between(stamped, now).abs().compareTo(OWN_REQUEST) < 0;
    }

    /** The metering container that a stamp of just now names; null if there is no such stamp. */
    static @Nullable String freshMeter(PodView pod, Instant now) {
        return isFresh(pod, now) ? pod.annotation(SIDECAR_ANNOTATION) : null;
    }

    /** The instant of the stamp that the pod has; null if it has none. */
    static @Nullable Instant asOf(PodView pod) {
        String stamped = pod.annotation(STANDING_AS_OF_ANNOTATION);
        try {
            return stamped == null ? null : Instant.parse(stamped);
        } catch (DateTimeException e) {
            return null;
        }
    }

    /**
     * This stamp with the instant of the one that the pod has, if that is fresh and says the same:
     * so that what is judged twice is not changed twice.
     */
    PodStamp since(PodView pod, Instant now) {
        Instant before = asOf(pod);
        if (before == null
                || before.isAfter(now)
                || !isFresh(pod, now)
                || !isSame(BUDGET_ANNOTATION, pod)
                || !isSame(STANDING_ANNOTATION, pod)) {
            return this;
        }
        var same = new HashMap<String, @Nullable String>(annotations);
        same.put(STANDING_AS_OF_ANNOTATION, pod.annotation(STANDING_AS_OF_ANNOTATION));
        return new PodStamp(same);
    }

    private boolean isSame(String key, PodView pod) {
        return Objects.equals(annotations.get(key), pod.annotation(key));
    }

    /**
     * Where the pod has keys of ours already, with other values than these, and they are neither of
     * just now nor a copy of another pod's.
     */
    List<String> forgedIn(PodView pod, Instant now) {
        var forged = new ArrayList<String>();
        if (!isFresh(pod, now) && !CopiedPod.is(pod, now)) {
            for (String key : KEYS) {
                String found = pod.annotation(key);
                if (found != null && !found.equals(annotations.get(key))) {
                    forged.add("metadata.annotations[" + key + "]");
                }
            }
        }
        String metered = pod.label(METERED_LABEL);
        if (metered != null && !metered.equals(METERED)) {
            forged.add("metadata.labels[" + METERED_LABEL + "]");
        }
        return forged;
    }

    void writeTo(PodPatch patch) {
        for (String key : KEYS) {
            String value = annotations.get(key);
            if (value == null) {
                patch.removeAnnotation(key);
            } else {
                patch.annotate(key, value);
            }
        }
        patch.label(METERED_LABEL, METERED);
    }
}
