package io.gpusharing.webhook.pod;

import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.grammar.GpuNames;
import io.gpusharing.request.grammar.RequestGrammars;
import java.util.ArrayList;
import java.util.List;

/**
 * A request before and after the site's defaults.
 *
 * @param asked what the pod's author wrote
 * @param request what is judged; the same where nothing was added
 */
public record CompletedRequest(PodRequest asked, PodRequest request) {

    public static CompletedRequest of(PodRequest asked, RequestGrammars grammars) {
        return new CompletedRequest(asked, grammars.completed(asked));
    }

    /** Whether something was added: the grammars hand back the very request otherwise. */
    @SuppressWarnings("ReferenceEquality") // a comparison by value costs each review a kilobyte
    boolean adds() {
        return request != asked;
    }

    /**
     * Whether nothing but NVIDIA's own device plugin is asked, whose pods are none of our business
     * where no budget pays for them: they are counted, and neither judged nor completed.
     */
    public boolean isNvidiasAlone(RequestGrammars grammars) {
        return !request.asksFor(name -> grammars.reads(name) && !GpuNames.isOfNvidiasPlugin(name));
    }

    /** What was added, for the author to know. */
    public List<String> warnings() {
        if (!adds()) {
            return List.of();
        }
        var warnings = new ArrayList<String>();
        for (int i = 0; i < request.containers().size(); i++) {
            ContainerRequest before = asked.containers().get(i);
            request.containers()
                    .get(i)
                    .limits()
                    .forEach((resource, amount) -> {
                        if (!before.limits().containsKey(resource)) {
                            warnings.add(
                                    "container \"%s\": %s is %s by default"
                                            .formatted(before.name(), resource, amount));
                        }
                    });
        }
        return warnings;
    }
}
