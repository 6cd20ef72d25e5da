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
import io.gpusharing.webhook.cluster.NamespaceStanding;
import io.gpusharing.webhook.cluster.PlacementProperties;
import io.gpusharing.webhook.cluster.Surroundings;
import io.gpusharing.webhook.decision.Decision;
import io.gpusharing.webhook.decision.Decision.Allowed;
import io.gpusharing.webhook.decision.Decision.Refused;
import io.gpusharing.webhook.decision.Decision.Untouched;
import io.gpusharing.webhook.decision.Findings;
import io.gpusharing.webhook.injection.Injector;
import io.gpusharing.webhook.injection.PodPatch;
import io.gpusharing.webhook.injection.Sidecar;
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

    private final RequestGrammars grammars;
    private final ProviderAsk asks;
    private final BypassPolicy bypass;
    private final MpsPolicy mps;
    private final PriorityClassPolicy classes;
    private final PlacementProperties placement;
    private final Injector injector;

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
        this.injector = new Injector(sidecar);
    }

    /** The decision about one review; everything but new pods is none of our business. */
    public Decision decide(Review review, Surroundings surroundings) {
        PodView received = review.pod();
        if (received == null
                || !review.isPod()
                || !review.operation().equals("CREATE")
                || isMirror(received, review)) {
            return new Untouched();
        }
        NewPod created =
                NewPod.of(review.namespace(), received, surroundings, injector, grammars::reads);
        PodView pod = created.pod();
        var completion = CompletedRequest.of(pod.request(), grammars);
        return switch (grammars.judge(completion.request())) {
            // What a claim is for is known when it is allocated: the timekeeper looks then.
            case NotOurs notOurs when pod.spec().claims() -> label(created, surroundings.now());
            case NotOurs notOurs -> new Untouched();
            case Illegal illegal -> Refused.invalid(illegal);
            case Legal legal -> complete(created, completion, legal.share(), surroundings);
            case LegalUntilBound legal ->
                    complete(created, completion, legal.leastShare(), surroundings);
        };
    }

    private Decision complete(
            NewPod created,
            CompletedRequest completion,
            GpuShare least,
            Surroundings surroundings) {
        PodView pod = created.pod();
        if (completion.isNvidiasAlone(grammars) && surroundings.unpaid(created.namespace())) {
            return label(created, surroundings.now());
        }
        var findings = new Findings();
        PodRequest request = completion.request();
        RequestGrammar grammar = grammars.grammarOf(request).orElseThrow();
        Instant now = surroundings.now();
        NamespaceStanding standing = surroundings.budgets().standingOf(created.namespace(), now);
        if (standing.budget() == null && surroundings.budgetsAway()) {
            findings.warn(
                    "no budget of namespace %s is known, and budgets cannot be read for now"
                            .formatted(created.namespace()));
        }
        if (standing.refuses()) {
            findings.refuse(
                    "BUDGET_USED_UP",
                    "budget %s of namespace %s is used up and refuses new GPU pods until %sa GpuGrant adds time"
                            .formatted(
                                    standing.budget(),
                                    created.namespace(),
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

        PodPatch patch = created.patch();
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
                injector.inject(
                        pod,
                        created.meters(),
                        created.place(),
                        priorityClass.orElse(pod.spec().priorityClassName()),
                        patch,
                        findings);
        PodStamp stamp =
                PodStamp.of(standing, request.stamp(grammars::reads), container).since(pod, now);
        bypass.checkForged(stamp.forgedIn(pod, now), findings);
        Map<String, String> ceilings = grammar.annotations(request);
        boolean ours = placed || placement.isOurs(pod.spec().schedulerName());
        CopiedPod.clear(pod, ours, now, patch, findings);
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
        // In the second review it is the API server that wrote it, and nobody would again.
        if (NewPod.isComparedWithOthers(pod) && !PodStamp.isFresh(pod, now)) {
            patch.removePriority();
        }
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
    private Decision label(NewPod created, Instant now) {
        var findings = new Findings();
        bypass.checkForged(PodStamp.LABEL_ALONE.forgedIn(created.pod(), now), findings);
        CopiedPod.clear(created.pod(), false, now, created.patch(), findings);
        if (!findings.refusals().isEmpty()) {
            return new Refused(Refused.FORBIDDEN, findings.refusals());
        }
        PodStamp.LABEL_ALONE.writeTo(created.patch());
        return new Allowed(created.patch(), findings.warnings(), Map.of("budget", "none"));
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
