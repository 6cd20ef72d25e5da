package io.gpusharing.webhook.pod;

import io.gpusharing.AnnotationBytes;
import io.gpusharing.Names;
import io.gpusharing.request.GpuShare;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.RequestGrammar;
import io.gpusharing.request.Verdict.Illegal;
import io.gpusharing.request.Verdict.Legal;
import io.gpusharing.request.Verdict.LegalUntilBound;
import io.gpusharing.request.Verdict.NotOurs;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.sharing.ProviderAsk;
import io.gpusharing.webhook.cluster.Demands;
import io.gpusharing.webhook.cluster.NamespaceStanding;
import io.gpusharing.webhook.cluster.PlacementProperties;
import io.gpusharing.webhook.cluster.Surroundings;
import io.gpusharing.webhook.decision.Decision;
import io.gpusharing.webhook.decision.Decision.Allowed;
import io.gpusharing.webhook.decision.Decision.Refused;
import io.gpusharing.webhook.decision.Decision.Untouched;
import io.gpusharing.webhook.decision.Findings;
import io.gpusharing.webhook.injection.PodPatch;
import io.gpusharing.webhook.injection.Sidecar;
import io.gpusharing.webhook.injection.Sidecar.Parts;
import io.gpusharing.webhook.injection.Sidecar.Plan;
import io.gpusharing.webhook.policy.BypassPolicy;
import io.gpusharing.webhook.policy.MpsPolicy;
import io.gpusharing.webhook.policy.MpsProperties;
import io.gpusharing.webhook.policy.PolicyProperties;
import io.gpusharing.webhook.policy.PriorityClassPolicy;
import io.gpusharing.webhook.policy.PriorityClassProperties;
import io.gpusharing.webhook.policy.RequestAnnotations;
import io.gpusharing.webhook.review.PodView;
import io.gpusharing.webhook.review.Review;
import io.gpusharing.wire.PlacementAnnotation;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Decides about new pods: judges what they ask for, and completes what is legal. */
public final class PodAdmission {

    private static final String MIRROR_ANNOTATION = "kubernetes.io/config.mirror";
    private static final String NODES = "system:nodes";

    /** Objects of more than 1.5 MiB do not fit into etcd; some bytes are left for others. */
    private static final int MAX_BYTES = 1_400 * 1024;

    private final RequestGrammars grammars;
    private final ProviderAsk asks;
    private final BypassPolicy bypass;
    private final MpsPolicy mps;
    private final PriorityClassPolicy classes;
    private final PlacementProperties placement;
    private final Sidecar sidecar;

    public PodAdmission(
            RequestGrammars grammars,
            ProviderAsk asks,
            PolicyProperties policy,
            MpsProperties mps,
            PriorityClassProperties classes,
            PlacementProperties placement,
            Sidecar sidecar) {
        this.grammars = grammars;
        this.asks = asks;
        this.bypass = new BypassPolicy(policy);
        this.mps = new MpsPolicy(mps);
        this.classes = new PriorityClassPolicy(classes);
        this.placement = placement;
        this.sidecar = sidecar;
    }

    /** The decision about one review; everything but new pods is none of our business. */
    public Decision decide(Review review, Surroundings surroundings) {
        PodView pod = review.pod();
        if (pod == null
                || !review.isPod()
                || !review.operation().equals("CREATE")
                || isMirror(pod, review)) {
            return new Untouched();
        }
        var completion = CompletedRequest.of(pod.request(), grammars);
        return switch (grammars.judge(completion.request())) {
            // What a claim is for is known when it is allocated: the timekeeper looks then.
            case NotOurs notOurs when pod.spec().claims() -> label(pod, surroundings.now());
            case NotOurs notOurs -> new Untouched();
            case Illegal illegal -> Refused.invalid(illegal);
            case Legal legal -> complete(review, pod, completion, legal.share(), surroundings);
            case LegalUntilBound legal ->
                    complete(review, pod, completion, legal.leastShare(), surroundings);
        };
    }

    private Decision complete(
            Review review,
            PodView pod,
            CompletedRequest completion,
            GpuShare least,
            Surroundings surroundings) {
        if (completion.isNvidiasAlone(grammars) && surroundings.unpaid(review.namespace())) {
            return label(pod, surroundings.now());
        }
        var findings = new Findings();
        PodRequest request = completion.request();
        RequestGrammar grammar = grammars.grammarOf(request).orElseThrow();
        Instant now = surroundings.now();
        NamespaceStanding standing = surroundings.budgets().standingOf(review.namespace(), now);
        if (standing.budget() == null && surroundings.budgetsAway()) {
            findings.warn(
                    "no budget of namespace %s is known, and budgets cannot be read for now"
                            .formatted(review.namespace()));
        }
        if (standing.refuses()) {
            findings.refuse(
                    "BUDGET_USED_UP",
                    "budget %s of namespace %s is used up and refuses new GPU pods until %sa GpuGrant adds time"
                            .formatted(
                                    standing.budget(),
                                    review.namespace(),
                                    standing.refills() == null
                                            ? ""
                                            : "its next period begins at %s, or until "
                                                    .formatted(standing.refills())));
        }
        bypass.check(pod, () -> grammar.asksForAPart(request), findings);
        mps.checkBypass(
                pod,
                () ->
                        grammar.asksForAPart(request)
                                && request.asksFor(surroundings.shared()::alsoOffer),
                findings);
        Optional<String> priorityClass =
                classes.classFor(pod, standing, surroundings.classes(), findings);
        completion.warnings().forEach(findings::warn);
        grammar.warnings(request, surroundings.nodes()).forEach(findings::warn);
        grammar.warnings(pod.annotations()).forEach(findings::warn);
        BudgetWarning.warning(standing, least).ifPresent(findings::warn);

        var patch = new PodPatch(pod);
        if (completion.adds()) {
            patch.complete(request);
        }
        boolean placed =
                placement.concerns(pod.spec().schedulerName())
                        && request.asksFor(surroundings.shared()::offer);
        if (placed) {
            place(pod, patch, findings);
        }
        String container =
                inject(
                        pod,
                        review.namespace(),
                        priorityClass.orElse(pod.spec().priorityClassName()),
                        surroundings,
                        patch,
                        findings);
        PodStamp stamp =
                PodStamp.of(standing, request.stamp(grammars::reads), container).since(pod, now);
        bypass.checkForged(stamp.forgedIn(pod, now), findings);
        Map<String, String> ceilings = grammar.annotations(request);
        boolean ours = placed || placement.isOurs(pod.spec().schedulerName());
        RequestAnnotations.check(pod, request, grammar, mps, findings);
        if (!ours) {
            RequestAnnotations.warnOfNoEffect(pod, findings);
        }
        if (ours) {
            checkPlacement(asks.of(request), findings);
        }
        checkSize(pod, stamp, ceilings, ours ? PlacementAnnotation.ROOM : 0, findings);
        if (!findings.refusals().isEmpty()) {
            return new Refused(Refused.FORBIDDEN, findings.refusals());
        }
        stamp.writeTo(patch);
        Map<String, String> before =
                PodStamp.isFresh(pod, now) ? ceilingsBefore(pod, grammar) : Map.of();
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
        priorityClass.ifPresent(name -> patch.priorityClass(name, surroundings.classes()));
        return new Allowed(patch, findings.warnings(), audit(standing, priorityClass, container));
    }

    /** Where the cluster's own scheduler asks us it is written only in another one's place. */
    private void place(PodView pod, PodPatch patch, Findings findings) {
        boolean takenOver = placement.isTakenOver(pod.spec().schedulerName());
        if (takenOver) {
            findings.warn(
                    "scheduler %s does not know which GPUs are taken: %s places the pod"
                            .formatted(pod.spec().schedulerName(), placement.schedulerName()));
        }
        if (takenOver || placement.isSecond()) {
            patch.scheduler(placement.schedulerName());
        }
    }

    /** So that the pod is counted, also by a budget that its namespace gets later. */
    private Decision label(PodView pod, Instant now) {
        var findings = new Findings();
        bypass.checkForged(PodStamp.LABEL_ALONE.forgedIn(pod, now), findings);
        if (!findings.refusals().isEmpty()) {
            return new Refused(Refused.FORBIDDEN, findings.refusals());
        }
        var patch = new PodPatch(pod);
        PodStamp.LABEL_ALONE.writeTo(patch);
        return new Allowed(patch, findings.warnings(), Map.of("budget", "none"));
    }

    /**
     * What we wrote for the provider when the pod, before another webhook, asked for other amounts.
     */
    private static Map<String, String> ceilingsBefore(PodView pod, RequestGrammar grammar) {
        return Optional.ofNullable(pod.annotation(Names.REQUEST_ANNOTATION))
                .flatMap(PodRequest::ofStamp)
                .map(grammar::annotations)
                .orElse(Map.of());
    }

    /** Our scheduler would place it nowhere, and reclaim would make room for it in vain. */
    private static void checkPlacement(List<ContainerAsk> asks, Findings findings) {
        if (PlacementAnnotation.bytes(asks) > PlacementAnnotation.MOST_BYTES) {
            findings.refuse(
                    "TOO_MANY_CONTAINERS",
                    "%d containers ask for GPUs, and on which they are would be longer than the %d bytes that are written: spread them over several pods"
                            .formatted(asks.size(), PlacementAnnotation.MOST_BYTES));
        }
    }

    /**
     * The API server refuses what our annotations make too long, and names neither them nor us.
     *
     * @param later bytes that our scheduler may add
     */
    private static void checkSize(
            PodView pod,
            PodStamp stamp,
            Map<String, String> ceilings,
            int later,
            Findings findings) {
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

    /** The name of the container that meters this pod; null if it gets none. */
    private @Nullable String inject(
            PodView pod,
            String namespace,
            @Nullable String priorityClass,
            Surroundings surroundings,
            PodPatch patch,
            Findings findings) {
        String ca = surroundings.reportingCa();
        if (!sidecar.isWanted() || ca == null || "windows".equals(pod.spec().osName())) {
            return null;
        }
        String stamped =
                PodStamp.isFresh(pod, surroundings.now())
                        ? pod.annotation(Names.SIDECAR_ANNOTATION)
                        : null;
        Demands demands = surroundings.demands().apply(namespace);
        return switch (sidecar.planFor(pod, stamped, ca, demands, priorityClass)) {
            case Plan.Present(String name) -> name;
            case Plan.Add _ when sidecar.image().equals(surroundings.unpullableIn(namespace)) -> {
                findings.warn("no metering container is added: its image cannot be pulled for now");
                yield null;
            }
            case Plan.Add(Parts parts) -> inject(pod, parts, patch, findings);
            case Plan.LeaveOut(String reason) -> {
                findings.warn("no metering container is added: " + reason);
                yield null;
            }
        };
    }

    private @Nullable String inject(PodView pod, Parts parts, PodPatch patch, Findings findings) {
        if (pod.source().length() + parts.container().charLength() > MAX_BYTES) {
            findings.warn("no metering container is added: the pod is too large");
            return null;
        }
        patch.inject(parts);
        patch.pullSecrets(sidecar.pullSecrets());
        return parts.name();
    }

    private static Map<String, String> audit(
            NamespaceStanding standing,
            Optional<String> priorityClass,
            @Nullable String container) {
        var audit = new LinkedHashMap<String, String>();
        audit.put("standing", standing.standing().word());
        audit.put("budget", Objects.requireNonNullElse(standing.budget(), "none known"));
        priorityClass.ifPresent(name -> audit.put("class", name));
        if (container != null) {
            audit.put("sidecar", container);
        }
        return audit;
    }

    /** The annotation alone would be a way around, since anybody can write it. */
    private static boolean isMirror(PodView pod, Review review) {
        return pod.annotation(MIRROR_ANNOTATION) != null && review.userGroups().contains(NODES);
    }
}
