package io.gpusharing.webhook.pod;

import io.gpusharing.AnnotationBytes;
import io.gpusharing.Names;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.RequestGrammar;
import io.gpusharing.webhook.decision.Findings;
import io.gpusharing.webhook.injection.PodPatch;
import io.gpusharing.webhook.review.PodView;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The annotations that a pod gets.
 *
 * @param stamp what was judged, and what it came from
 * @param ceilings what the provider needs to know on the node, by key; a value that the user wrote
 *     wins
 * @param before the ceilings of the request that the pod had before another webhook changed it;
 *     they are replaced. Empty where the pod comes for the first time
 */
record PodAnnotations(PodStamp stamp, Map<String, String> ceilings, Map<String, String> before) {

    static PodAnnotations of(LegalRequest asked, PodStamp stamp, Instant now) {
        return new PodAnnotations(
                stamp,
                asked.grammar().annotations(asked.request()),
                PodStamp.isFresh(asked.pod(), now)
                        ? ceilingsBefore(asked.pod(), asked.grammar())
                        : Map.of());
    }

    private static Map<String, String> ceilingsBefore(PodView pod, RequestGrammar grammar) {
        return Optional.ofNullable(pod.annotation(Names.REQUEST_ANNOTATION))
                .flatMap(PodRequest::ofStamp)
                .map(grammar::annotations)
                .orElse(Map.of());
    }

    /**
     * Refuses a pod whose annotations ours make too long: the API server would, and name neither
     * them nor us.
     *
     * @param later bytes that our scheduler may add
     */
    void checkSize(PodView pod, int later, Findings findings) {
        // Each byte of an annotation is one of the manifest, too.
        if (pod.source().length() < AnnotationBytes.MOST / 2) {
            return;
        }
        var annotations = new HashMap<String, @Nullable String>(ceilings);
        annotations.putAll(stamp.annotations());
        long present = AnnotationBytes.of(pod.annotations());
        annotations.keySet().removeAll(pod.annotations().keySet());
        long added = AnnotationBytes.of(annotations) + later;
        if (present + added > AnnotationBytes.MOST) {
            findings.refuse(
                    "ANNOTATIONS_TOO_LONG",
                    "metadata.annotations have %d bytes, and GPUSharing adds %d: Kubernetes allows %d together; shorten them by %d"
                            .formatted(
                                    present,
                                    added,
                                    AnnotationBytes.MOST,
                                    present + added - AnnotationBytes.MOST));
        }
    }

    void writeTo(PodView pod, PodPatch patch) {
        stamp.writeTo(patch);
        before.forEach((key, value) -> {
            if (value.equals(pod.annotation(key)) && !ceilings.containsKey(key)) {
                patch.removeAnnotation(key);
            }
        });
        ceilings.forEach((key, value) -> {
            String present = pod.annotation(key);
            if (present == null || present.equals(before.get(key))) {
                patch.annotate(key, value);
            }
        });
    }
}
