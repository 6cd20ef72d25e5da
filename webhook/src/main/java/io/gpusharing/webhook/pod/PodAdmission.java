package io.gpusharing.webhook.pod;

import io.gpusharing.request.PodRequest;
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
import io.gpusharing.webhook.policy.MpsProperties;
import io.gpusharing.webhook.policy.PolicyProperties;
import io.gpusharing.webhook.policy.PriorityClassPolicy;
import io.gpusharing.webhook.policy.PriorityClassProperties;
import io.gpusharing.webhook.policy.RequestAnnotations;
import io.gpusharing.webhook.review.PodView;
import io.gpusharing.webhook.review.Review;
import io.gpusharing.wire.PlacementAnnotation;
import java.time.Instant;
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
    private final RequestChecks checks;
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
        this.checks = new RequestChecks(policy, mps, classes);
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
            case Legal legal ->
                    complete(
                            created,
                            LegalRequest.of(pod, completion, legal.share(), grammars),
                            surroundings);
            case LegalUntilBound legal ->
                    complete(
                            created,
                            LegalRequest.of(pod, completion, legal.leastShare(), grammars),
                            surroundings);
        };
    }

    /** Makes all checks of a legal request, and then says what the pod gets. */
    private Decision complete(NewPod created, LegalRequest asked, Surroundings surroundings) {
        if (asked.completion().isNvidiasAlone(grammars)
                && surroundings.unpaid(created.namespace())) {
            return label(created, surroundings.now());
        }
        var findings = new Findings();
        NamespaceStanding standing =
                surroundings.budgets().standingOf(created.namespace(), surroundings.now());
        checkBudget(created.namespace(), standing, surroundings, findings);
        checks.check(asked, surroundings, findings);
        BudgetWarning.warning(standing, asked.least()).ifPresent(findings::warn);
        Allowed allowed = add(created, asked, standing, surroundings, findings);
        return findings.refusals().isEmpty()
                ? allowed
                : new Refused(Refused.FORBIDDEN, findings.refusals());
    }

    private static void checkBudget(
            String namespace,
            NamespaceStanding standing,
            Surroundings surroundings,
            Findings findings) {
        if (standing.budget() == null && surroundings.budgetsAway()) {
            findings.warn(
                    "no budget of namespace %s is known, and budgets cannot be read for now"
                            .formatted(namespace));
        }
        if (standing.refuses()) {
            findings.refuse(
                    "BUDGET_USED_UP",
                    "budget %s of namespace %s is used up and refuses new GPU pods until %sa GpuGrant adds time"
                            .formatted(
                                    standing.budget(),
                                    namespace,
                                    standing.refills() == null
                                            ? ""
                                            : "its next period begins at %s, or until "
                                                    .formatted(standing.refills())));
        }
    }

    /**
     * What a legal pod gets. Each addition needs what those before it have decided: the site's
     * defaults are written before the meter moves the init containers, the meter's resources depend
     * on the class, the stamp names the meter, and the size is that of all annotations.
     *
     * @param findings gets a refusal where something cannot be added; the patch is worth nothing
     *     then
     */
    private Allowed add(
            NewPod created,
            LegalRequest asked,
            NamespaceStanding standing,
            Surroundings surroundings,
            Findings findings) {
        PodView pod = created.pod();
        PodPatch patch = created.patch();
        Instant now = surroundings.now();
        if (asked.completion().adds()) {
            patch.complete(asked.request());
        }
        Optional<String> priorityClass =
                classes.classFor(pod, standing, surroundings.classes(), findings);
        boolean ours = schedule(asked, surroundings, patch, findings);
        String meter =
                injector.inject(
                        pod,
                        created.meters(),
                        created.place(),
                        priorityClass.orElse(pod.spec().priorityClassName()),
                        patch,
                        findings);
        PodStamp stamp =
                PodStamp.of(standing, asked.request().stamp(grammars::reads), meter)
                        .since(pod, now);
        checks.checkForged(stamp.forgedIn(pod, now), findings);
        CopiedPod.clear(pod, ours, now, patch, findings);
        var annotations = PodAnnotations.of(asked, stamp, now);
        annotations.checkSize(pod, ours ? PlacementAnnotation.ROOM : 0, findings);
        annotations.writeTo(pod, patch);
        priorityClass.ifPresent(name -> patch.priorityClass(name, surroundings.classes()));
        // In the second review it is the API server that wrote it, and nobody would again.
        if (NewPod.isComparedWithOthers(pod) && !PodStamp.isFresh(pod, now)) {
            patch.removePriority();
        }
        return new Allowed(patch, findings.warnings(), audit(standing, priorityClass, meter));
    }

    /**
     * Gives the pod our scheduler where it asks for what our device plugin offers. Where the
     * cluster's own scheduler asks us, the name is written only in place of another scheduler's.
     *
     * @return whether our scheduler places the pod
     */
    private boolean schedule(
            LegalRequest asked, Surroundings surroundings, PodPatch patch, Findings findings) {
        String named = asked.pod().spec().schedulerName();
        PodRequest request = asked.request();
        boolean given = placement.concerns(named) && request.asksFor(surroundings.shared()::offer);
        boolean takenOver = given && placement.isTakenOver(named);
        if (takenOver) {
            findings.warn(
                    "scheduler %s does not know which GPUs are taken: %s places the pod"
                            .formatted(named, placement.schedulerName()));
        }
        if (given && (takenOver || placement.isSecond())) {
            patch.scheduler(placement.schedulerName());
        }
        boolean ours = given || placement.isOurs(named);
        if (ours) {
            checkPlacement(asks.of(request), findings);
        } else {
            RequestAnnotations.warnOfNoEffect(asked.pod(), findings);
        }
        return ours;
    }

    /** So that the pod is counted, also by a budget that its namespace gets later. */
    private Decision label(NewPod created, Instant now) {
        var findings = new Findings();
        checks.checkForged(PodStamp.LABEL_ALONE.forgedIn(created.pod(), now), findings);
        CopiedPod.clear(created.pod(), false, now, created.patch(), findings);
        if (!findings.refusals().isEmpty()) {
            return new Refused(Refused.FORBIDDEN, findings.refusals());
        }
        PodStamp.LABEL_ALONE.writeTo(created.patch());
        return new Allowed(created.patch(), findings.warnings(), Map.of("budget", "none"));
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

    private static Map<String, String> audit(
            NamespaceStanding standing, Optional<String> priorityClass, @Nullable String meter) {
        var audit = new LinkedHashMap<String, String>();
        audit.put("standing", standing.standing().word());
        audit.put("budget", Objects.requireNonNullElse(standing.budget(), "none known"));
        priorityClass.ifPresent(name -> audit.put("class", name));
        if (meter != null) {
            audit.put("sidecar", meter);
        }
        return audit;
    }

    /** The annotation alone would be a way around, since anybody can write it. */
    private static boolean isMirror(PodView pod, Review review) {
        return pod.annotation(MIRROR_ANNOTATION) != null && review.userGroups().contains(NODES);
    }
}
