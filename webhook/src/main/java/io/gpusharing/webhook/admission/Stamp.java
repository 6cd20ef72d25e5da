package io.gpusharing.webhook.admission;

import static io.gpusharing.Names.BUDGET_ANNOTATION;
import static io.gpusharing.Names.METERED_LABEL;
import static io.gpusharing.Names.PREFIX;
import static io.gpusharing.Names.REQUEST_ANNOTATION;
import static io.gpusharing.Names.SIDECAR_ANNOTATION;
import static io.gpusharing.Names.STANDING_ANNOTATION;
import static io.gpusharing.Names.STANDING_AS_OF_ANNOTATION;

import io.gpusharing.webhook.injection.PodPatch;
import io.gpusharing.webhook.review.PodView;
import io.gpusharing.webhook.standing.NamespaceStanding;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The keys that only we write into a pod: what was judged, and what it came from.
 *
 * @param annotations value of each annotation, null where it must not be there
 */
record Stamp(Map<String, @Nullable String> annotations) {

    /** As long as a request to the API server can take: a stamp may be our own of just before. */
    private static final Duration OWN_REQUEST = Duration.ofSeconds(60);

    private static final List<String> KEYS =
            List.of(
                    BUDGET_ANNOTATION,
                    STANDING_ANNOTATION,
                    STANDING_AS_OF_ANNOTATION,
                    REQUEST_ANNOTATION,
                    SIDECAR_ANNOTATION);

    private static final String METERED = "true";

    /**
     * @param request the amounts that were judged
     * @param sidecar name of the injected container; null if there is none
     */
    static Stamp of(NamespaceStanding standing, String request, @Nullable String sidecar) {
        var annotations = new HashMap<String, @Nullable String>();
        annotations.put(BUDGET_ANNOTATION, standing.budget());
        annotations.put(STANDING_ANNOTATION, standing.standing().word());
        annotations.put(STANDING_AS_OF_ANNOTATION, standing.asOf().toString());
        annotations.put(REQUEST_ANNOTATION, request);
        annotations.put(SIDECAR_ANNOTATION, sidecar);
        return new Stamp(annotations);
    }

    /**
     * The instant to judge a pod at. A pod that we have just judged comes again if we are
     * registered twice: it is judged at the instant of its stamp, so that a budget that ends in
     * between cannot change the answer within one request.
     */
    static Instant judgedAt(PodView pod, Instant now) {
        Instant at = now.truncatedTo(ChronoUnit.MILLIS);
        String stamped = pod.annotation(STANDING_AS_OF_ANNOTATION);
        if (stamped == null) {
            return at;
        }
        try {
            Instant before = Instant.parse(stamped);
            return before.isAfter(now.minus(OWN_REQUEST)) && !before.isAfter(now) ? before : at;
        } catch (DateTimeException e) {
            return at;
        }
    }

    /** Where the pod has keys of ours already, with other values than these. */
    List<String> forgedIn(PodView pod) {
        var forged = new ArrayList<String>();
        for (String key : KEYS) {
            String found = pod.annotation(key);
            if (found != null && !found.equals(annotations.get(key))) {
                forged.add(annotation(key));
            }
        }
        addForgedLabel(pod, forged);
        return forged;
    }

    /**
     * Where a template has keys of ours that no pod made from it could have: what depends on the
     * standing that its pods will find is left to them, and any other key may be written only by
     * administrators, which controllers are not.
     *
     * @param request the amounts that were judged
     */
    static List<String> forgedInTemplate(PodView template, String request) {
        var forged = new ArrayList<String>();
        for (String key : ours(template.metadata().annotations())) {
            String found = template.annotation(key);
            boolean possible =
                    key.equals(REQUEST_ANNOTATION)
                            ? request.equals(found)
                            : KEYS.contains(key) && !key.equals(STANDING_AS_OF_ANNOTATION);
            if (!possible) {
                forged.add(annotation(key));
            }
        }
        for (String key : ours(template.metadata().labels())) {
            if (!key.equals(METERED_LABEL) || !METERED.equals(template.label(key))) {
                forged.add(label(key));
            }
        }
        return forged;
    }

    /** The keys that begin with our prefix, in the order of their names. */
    private static Set<String> ours(@Nullable Map<String, String> keys) {
        var ours = new TreeSet<String>();
        if (keys != null) {
            for (String key : keys.keySet()) {
                if (key.startsWith(PREFIX)) {
                    ours.add(key);
                }
            }
        }
        return ours;
    }

    private static void addForgedLabel(PodView pod, List<String> forged) {
        String metered = pod.label(METERED_LABEL);
        if (metered != null && !metered.equals(METERED)) {
            forged.add(label(METERED_LABEL));
        }
    }

    private static String annotation(String key) {
        return "metadata.annotations[" + key + "]";
    }

    private static String label(String key) {
        return "metadata.labels[" + key + "]";
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
