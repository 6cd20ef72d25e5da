package io.gpusharing.webhook.pod;

import io.gpusharing.request.GpuShare;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.RequestGrammar;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.webhook.review.PodView;

/**
 * A new pod, or a template of pods, that asks for GPUs in a legal way.
 *
 * @param pod what its author wrote
 * @param completion its request before and after the site's defaults
 * @param grammar the grammar that reads the request
 * @param least the share that the pod holds at least, wherever it will run
 */
public record LegalRequest(
        PodView pod, CompletedRequest completion, RequestGrammar grammar, GpuShare least) {

    /** The request of a pod that was judged legal, with the grammar that reads it. */
    public static LegalRequest of(
            PodView pod, CompletedRequest completion, GpuShare least, RequestGrammars grammars) {
        return new LegalRequest(
                pod, completion, grammars.grammarOf(completion.request()).orElseThrow(), least);
    }

    /** The request after the site's defaults. */
    public PodRequest request() {
        return completion.request();
    }

    /** Whether it asks for a part of a GPU and not for whole ones alone. */
    boolean isForAPart() {
        return grammar.asksForAPart(request());
    }
}
