package io.gpusharing.webhook.pod;

import io.gpusharing.webhook.cluster.Surroundings;
import io.gpusharing.webhook.decision.Findings;
import io.gpusharing.webhook.policy.BypassPolicy;
import io.gpusharing.webhook.policy.MpsPolicy;
import io.gpusharing.webhook.policy.MpsProperties;
import io.gpusharing.webhook.policy.PolicyProperties;
import io.gpusharing.webhook.policy.PriorityClassPolicy;
import io.gpusharing.webhook.policy.PriorityClassProperties;
import io.gpusharing.webhook.policy.RequestAnnotations;
import java.util.List;

/**
 * The checks that a new pod and the template that it comes from have in common, so that a template
 * is told at once what its pods would be told. They depend on the request and the cluster, and not
 * on the standing of a budget, which may be another one when the pods are made.
 */
public final class RequestChecks {

    private interface Check {
        void check(LegalRequest asked, Surroundings surroundings, Findings findings);
    }

    private final BypassPolicy bypass;
    private final MpsPolicy mps;
    private final PriorityClassPolicy classes;

    /** No check needs what another has found: people read the findings in this order. */
    private final List<Check> checks =
            List.of(
                    this::waysPastTheDevicePlugin,
                    this::waysPastMps,
                    this::chosenClass,
                    this::wishes,
                    this::defaults,
                    this::nodes,
                    this::limits);

    public RequestChecks(
            PolicyProperties policy, MpsProperties mps, PriorityClassProperties classes) {
        this.bypass = new BypassPolicy(policy);
        this.mps = new MpsPolicy(mps);
        this.classes = new PriorityClassPolicy(classes);
    }

    /**
     * Makes all of the checks, also after a refusal, so that one edit can mend everything.
     *
     * @param findings gets what the checks find
     */
    public void check(LegalRequest asked, Surroundings surroundings, Findings findings) {
        checks.forEach(check -> check.check(asked, surroundings, findings));
    }

    /**
     * Checks keys that GPUSharing alone writes.
     *
     * @param fields where such keys stand that GPUSharing has not written
     */
    public void checkForged(List<String> fields, Findings findings) {
        bypass.checkForged(fields, findings);
    }

    private void waysPastTheDevicePlugin(
            LegalRequest asked, Surroundings surroundings, Findings findings) {
        bypass.check(asked.pod(), asked::isForAPart, findings);
    }

    private void waysPastMps(LegalRequest asked, Surroundings surroundings, Findings findings) {
        mps.checkBypass(
                asked.pod(),
                () ->
                        asked.isForAPart()
                                && asked.request().asksFor(surroundings.shared()::alsoOffer),
                findings);
    }

    private void chosenClass(LegalRequest asked, Surroundings surroundings, Findings findings) {
        classes.checkChoice(asked.pod(), surroundings.classes(), findings);
    }

    /** Annotations by which users ask for a strategy, a group or MPS. */
    private void wishes(LegalRequest asked, Surroundings surroundings, Findings findings) {
        RequestAnnotations.check(asked.pod(), asked.request(), asked.grammar(), mps, findings);
    }

    /** What the site's defaults add to the request. */
    private void defaults(LegalRequest asked, Surroundings surroundings, Findings findings) {
        asked.completion().warnings().forEach(findings::warn);
    }

    /** What no node of today has: nodes come and go, so this is a warning. */
    private void nodes(LegalRequest asked, Surroundings surroundings, Findings findings) {
        asked.grammar().warnings(asked.request(), surroundings.nodes()).forEach(findings::warn);
    }

    /** Annotations by which a provider limits compute. */
    private void limits(LegalRequest asked, Surroundings surroundings, Findings findings) {
        asked.grammar().warnings(asked.pod().annotations()).forEach(findings::warn);
    }
}
