package io.gpusharing.timekeeper.metering;

import io.gpusharing.budget.GpuBudgetSpec.Fixed;
import io.gpusharing.budget.GpuBudgetSpec.Share;
import io.gpusharing.budget.ShareRule;
import io.gpusharing.budget.ShareRule.Formula;
import io.gpusharing.request.BoundShare;
import io.gpusharing.request.GpuShare;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.VcudaGrammar;
import java.util.OptionalLong;
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

    /** Micro-GPUs charged for what the pod holds on its node. */
    public long rate(BoundShare held, NodeFacts node) {
        if (reference == null) {
            return new ShareRule(formula, ShareRule.WHOLE_GPU).rate(held.share());
        }
        long compute = reference.compute() * (GpuShare.WHOLE / 100);
        OptionalLong block = microsPerBlock(node, reference.memory());
        // Without the size of the devices only the compute part can be compared.
        return block.isEmpty()
                ? new ShareRule(Formula.Compute, new GpuShare(compute, GpuShare.WHOLE))
                        .rate(held.share())
                : new ShareRule(formula, new GpuShare(compute, block.getAsLong()))
                        .rate(held.share());
    }

    private static OptionalLong microsPerBlock(NodeFacts node, long blocks) {
        long gpus = node.units(VcudaGrammar.CORE).orElse(0) / 100;
        long memory = gpus == 0 ? 0 : node.units(VcudaGrammar.MEMORY).orElse(0) / gpus;
        return memory == 0
                ? OptionalLong.empty()
                : OptionalLong.of(Math.max(1, blocks * GpuShare.WHOLE / memory));
    }
}
