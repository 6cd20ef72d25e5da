package io.gpusharing.webhook.policy;

import io.gpusharing.Names;
import io.gpusharing.placement.Strategy;
import io.gpusharing.webhook.decision.Findings;
import io.gpusharing.webhook.review.PodView;
import java.util.Arrays;
import java.util.TreeMap;

/** What users ask for by annotations that begin with {@link Names#REQUEST_PREFIX}. */
public final class RequestAnnotations {

    private RequestAnnotations() {}

    /** Refuses what nobody would do: it would be relied on. */
    public static void check(PodView pod, Findings findings) {
        new TreeMap<>(pod.annotations())
                .forEach((key, value) -> {
                    if (!key.startsWith(Names.REQUEST_PREFIX)) {
                        return;
                    }
                    if (!key.equals(Names.STRATEGY_ANNOTATION)) {
                        findings.refuse(
                                "UNKNOWN_REQUEST",
                                "annotation %s is none that GPUSharing knows; write %s, or remove it"
                                        .formatted(key, Names.STRATEGY_ANNOTATION));
                    } else if (Strategy.of(value).isEmpty()) {
                        findings.refuse(
                                "UNKNOWN_STRATEGY",
                                "annotation %s is \"%s\"; write one of %s, or remove it"
                                        .formatted(key, value, Arrays.toString(Strategy.values())));
                    }
                });
    }

    /** For a pod that our scheduler does not place. */
    public static void warnOfNoEffect(PodView pod, Findings findings) {
        if (pod.annotation(Names.STRATEGY_ANNOTATION) != null) {
            findings.warn(
                    "annotation %s has no effect: the pod is not placed by GPUSharing's scheduler"
                            .formatted(Names.STRATEGY_ANNOTATION));
        }
    }
}
