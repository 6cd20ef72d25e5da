package io.gpusharing.webhook.pod;

import io.gpusharing.Names;
import io.gpusharing.request.PodRequest;
import io.gpusharing.webhook.decision.Findings;
import io.gpusharing.webhook.injection.PodPatch;
import io.gpusharing.webhook.review.PodView;
import io.gpusharing.wire.PlacementAnnotation;
import java.time.Instant;
import java.util.Set;

/**
 * A new pod that was made of an older one: by {@code kubectl debug --copy-to}, from a backup, from
 * what {@code kubectl get -o yaml} has shown. It brings along what was written into that one.
 *
 * <p>Who makes it can make up all of this, and gains nothing: the stamp is written over, and the
 * rest goes.
 */
final class CopiedPod {

    private static final Set<String> STANDINGS = Set.of("InBudget", "OverBudget", "Unlimited");

    private CopiedPod() {}

    /** Whether the pod has a whole stamp of earlier. Single keys of ours are somebody's mistake. */
    static boolean is(PodView pod, Instant now) {
        Instant stamped = PodStamp.asOf(pod);
        String standing = pod.annotation(Names.STANDING_ANNOTATION);
        String request = pod.annotation(Names.REQUEST_ANNOTATION);
        return stamped != null
                && stamped.isBefore(now)
                && !PodStamp.isFresh(pod, now)
                && standing != null
                && STANDINGS.contains(standing)
                && request != null
                && PodRequest.ofStamp(request).isPresent();
    }

    /**
     * Takes away what holds of the older pod alone, if it is such a copy.
     *
     * @param ours whether our scheduler places it, which writes other providers' keys as well
     */
    static void clear(PodView pod, boolean ours, Instant now, PodPatch patch, Findings findings) {
        if (!is(pod, now)) {
            return;
        }
        findings.warn(
                "a copy of an older pod: annotations gpusharing.io/ of that one are not kept");
        patch.removeAnnotation(PlacementAnnotation.KEY);
        patch.removeAnnotation(Names.EXHAUSTED_AT_ANNOTATION);
        if (ours) {
            pod.annotations().keySet().stream()
                    .filter(CopiedPod::isOfAPlacement)
                    .sorted()
                    .forEach(patch::removeAnnotation);
        }
    }

    /** The keys by which gpu-manager and gpushare read on which GPUs a pod is. */
    private static boolean isOfAPlacement(String key) {
        return key.startsWith("tencent.com/predicate-")
                || key.equals("tencent.com/gpu-assigned")
                || key.startsWith("ALIYUN_COM_GPU_MEM_");
    }
}
