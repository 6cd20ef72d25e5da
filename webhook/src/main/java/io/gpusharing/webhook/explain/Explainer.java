package io.gpusharing.webhook.explain;

import io.gpusharing.request.BoundShare;
import io.gpusharing.request.GpuShare;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.Verdict.LegalUntilBound;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.sharing.ProviderAsk;
import io.gpusharing.webhook.cluster.PlacementProperties;
import io.gpusharing.webhook.cluster.Surroundings;
import io.gpusharing.webhook.decision.Decision.Allowed;
import io.gpusharing.webhook.decision.Decision.Refused;
import io.gpusharing.webhook.decision.Decision.Untouched;
import io.gpusharing.webhook.decision.ObjectPatch;
import io.gpusharing.webhook.decision.WarningText;
import io.gpusharing.webhook.injection.Sidecar;
import io.gpusharing.webhook.injection.SidecarProperties;
import io.gpusharing.webhook.pod.PodAdmission;
import io.gpusharing.webhook.policy.MpsProperties;
import io.gpusharing.webhook.policy.PolicyProperties;
import io.gpusharing.webhook.policy.PriorityClassProperties;
import io.gpusharing.webhook.review.PodView;
import io.gpusharing.webhook.review.Review;
import io.gpusharing.webhook.template.PodTemplates;
import io.gpusharing.webhook.template.WorkloadProperties;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Says what would be decided about a pod, with the same parts that answer reviews. */
public final class Explainer {

    private final RequestGrammars grammars;
    private final PodAdmission pods;
    private final PodTemplates templates;

    /** The configuration of an installation. */
    public Explainer(
            RequestGrammars grammars,
            ProviderAsk asks,
            PolicyProperties policy,
            MpsProperties mps,
            PriorityClassProperties classes,
            PlacementProperties placement,
            SidecarProperties sidecar,
            WorkloadProperties workloads) {
        this.templates = workloads.templates();
        this.grammars = grammars;
        this.pods =
                new PodAdmission(
                        grammars, asks, policy, mps, classes, placement, new Sidecar(sidecar));
    }

    /**
     * The pods that would be made from an object; none if nobody knows such a kind.
     *
     * @param apiVersion its group and version
     */
    public List<JsonNode> podsOf(String apiVersion, String kind, JsonNode object) {
        return templates.podsOf(PodTemplates.group(apiVersion), kind, object);
    }

    /** What would be said to a new pod. */
    public Explanation explain(Review review, Surroundings surroundings) {
        return switch (pods.decide(review, surroundings)) {
            case Untouched _ -> nothing("asks for no GPU; it is left as it is", true);
            case Refused refused -> refused(refused);
            case Allowed allowed -> accepted(allowed, review.pod());
        };
    }

    private Explanation accepted(Allowed allowed, @Nullable PodView pod) {
        ObjectPatch patch = allowed.patch();
        BoundShare share = pod == null ? BoundShare.NONE : share(grammars.completed(pod.request()));
        return new Explanation(
                "accepted",
                true,
                share.share(),
                share.missing().stream()
                        .map(fact -> fact.name().toLowerCase(Locale.ROOT).replace('_', ' '))
                        .collect(Collectors.joining(", ")),
                pod != null && isLeast(share.share(), grammars.completed(pod.request())),
                WarningText.fitted(allowed.warnings()),
                patch == null || patch.isEmpty() ? null : patch.toJson());
    }

    /** Where nothing is known, some shares count as little as possible, and others as a whole. */
    private boolean isLeast(GpuShare share, PodRequest request) {
        return grammars.judge(request) instanceof LegalUntilBound(GpuShare least, String _)
                && share.equals(least);
    }

    private BoundShare share(PodRequest request) {
        return grammars.grammarOf(request)
                .map(grammar -> grammar.shareOn(request, NodeFacts.UNKNOWN))
                .orElse(BoundShare.NONE);
    }

    static Explanation refused(Refused refused) {
        return nothing("refused (%d): %s".formatted(refused.code(), refused.message()), false);
    }

    private static Explanation nothing(String verdict, boolean accepted) {
        return new Explanation(verdict, accepted, GpuShare.NONE, "", false, List.of(), null);
    }
}
