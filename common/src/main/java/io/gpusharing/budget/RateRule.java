package io.gpusharing.budget;

import io.gpusharing.budget.GpuBudgetSpec.Fixed;
import io.gpusharing.budget.GpuBudgetSpec.Share;
import io.gpusharing.budget.ShareRule.Formula;
import io.gpusharing.request.GpuShare;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.Part;
import io.gpusharing.request.grammar.VcudaGrammar;
import org.jspecify.annotations.Nullable;

/**
 * How a budget turns what a pod holds into the rate that is charged.
 *
 * @param formula which part counts
 * @param reference amounts that count as one, in core units and blocks of device memory; null for a
 *     whole GPU
 */
public record RateRule(Formula formula, @Nullable Fixed reference) {

    /** The larger part of a whole GPU. */
    public static final RateRule DEFAULT = new RateRule(Formula.Max, null);

    /** The rule of a budget; {@code FromQuota} is read as a whole GPU where there is no quota. */
    public static RateRule of(Share share, @Nullable Fixed quota) {
        return new RateRule(
                share.formula(),
                switch (share.reference()) {
                    case WholeGpu -> null;
                    case FromQuota -> quota;
                    case Fixed -> share.fixed();
                });
    }

    /** The rule that prices what pods hold on a node. */
    public ShareRule on(NodeFacts node) {
        if (reference == null) {
            return new ShareRule(formula, ShareRule.WHOLE_GPU);
        }
        Part compute = new Part(reference.compute(), 100);
        // Without the size of the devices only the compute part can be compared.
        return VcudaGrammar.memoryPart(reference.memory(), node)
                .map(memory -> new ShareRule(formula, new GpuShare(compute, memory)))
                .orElseGet(() ->
                        new ShareRule(
                                Formula.Compute,
                                new GpuShare(compute, ShareRule.WHOLE_GPU.memoryPart())));
    }
}
