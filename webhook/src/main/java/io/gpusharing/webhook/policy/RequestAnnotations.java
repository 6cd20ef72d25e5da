package io.gpusharing.webhook.policy;

import io.gpusharing.Names;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.RequestGrammar;
import io.gpusharing.sharing.GpuGroup;
import io.gpusharing.sharing.Strategy;
import io.gpusharing.webhook.decision.Findings;
import io.gpusharing.webhook.review.PodView;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;

/** What users ask for by annotations that begin with {@link Names#REQUEST_PREFIX}. */
public final class RequestAnnotations {

    private RequestAnnotations() {}

    private static final List<String> KNOWN =
            List.of(Names.STRATEGY_ANNOTATION, Names.SAME_GPU_ANNOTATION, Names.MPS_ANNOTATION);

    /** The device plugin knows the other one as well. */
    private static final List<String> OF_SCHEDULER =
            List.of(Names.STRATEGY_ANNOTATION, Names.SAME_GPU_ANNOTATION);

    /** Refuses what nobody would do: it would be relied on. */
    public static void check(
            PodView pod,
            PodRequest request,
            RequestGrammar grammar,
            MpsPolicy mps,
            Findings findings) {
        new TreeMap<>(pod.annotations())
                .forEach((key, value) -> {
                    switch (key) {
                        case Names.STRATEGY_ANNOTATION -> checkStrategy(value, findings);
                        case Names.SAME_GPU_ANNOTATION ->
                                checkGroup(value, request, grammar, findings);
                        case Names.MPS_ANNOTATION ->
                                mps.checkWish(value, pod, request, grammar, findings);
                        default -> {
                            if (key.startsWith(Names.REQUEST_PREFIX)) {
                                findings.refuse(
                                        "UNKNOWN_REQUEST",
                                        "annotation %s is none that GPUSharing knows; write %s, or remove it"
                                                .formatted(key, String.join(" or ", KNOWN)));
                            }
                        }
                    }
                });
    }

    private static void checkStrategy(String value, Findings findings) {
        if (Strategy.of(value).isEmpty()) {
            findings.refuse(
                    "UNKNOWN_STRATEGY",
                    "annotation %s is \"%s\"; write one of %s, or remove it"
                            .formatted(
                                    Names.STRATEGY_ANNOTATION,
                                    value,
                                    Arrays.toString(Strategy.values())));
        }
    }

    private static void checkGroup(
            String name, PodRequest request, RequestGrammar grammar, Findings findings) {
        if (!GpuGroup.isName(name)) {
            findings.refuse(
                    "ILLEGAL_GROUP",
                    "annotation %s is \"%s\"; write a name of up to 63 lower-case letters, digits and hyphens, or remove it"
                            .formatted(Names.SAME_GPU_ANNOTATION, name));
        }
        long containers =
                request.containers().stream()
                        .map(container -> new PodRequest(List.of(container)))
                        .filter(container -> container.asksFor(grammar::reads))
                        .count();
        if (containers != 1 || !grammar.asksForAPart(request) || isMoreThanOne(request, grammar)) {
            findings.refuse(
                    "GROUP_OF_PARTS",
                    "annotation %s is for pods in which one container asks for a part of one GPU: let each pod of the group ask for its part; pods cannot share several GPUs, so whatever needs several together belongs into one pod, without the annotation"
                            .formatted(Names.SAME_GPU_ANNOTATION));
        }
    }

    /** Whether the pod asks for more than a GPU, wherever it will run. */
    static boolean isMoreThanOne(PodRequest request, RequestGrammar grammar) {
        return grammar.shareOn(request, NodeFacts.UNKNOWN).share().isMoreThanOne();
    }

    /** For a pod that our scheduler does not place. */
    public static void warnOfNoEffect(PodView pod, Findings findings) {
        for (String known : OF_SCHEDULER) {
            if (pod.annotation(known) != null) {
                findings.warn(
                        "annotation %s has no effect: the pod is not placed by GPUSharing's scheduler"
                                .formatted(known));
            }
        }
    }
}
