package io.gpusharing.recount;

import io.gpusharing.recount.Bill.Held;
import io.gpusharing.recount.Charged.Part;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The first part of a pod's time, where the ledger charged it as if all GPUs of its node were
 * alike: so it does until it can read what the pod's own GPU is. No audit log shows when it could.
 *
 * @param charged what was posted so
 * @param rate micro-GPUs of the pod by its own GPU
 * @param isExplained whether the log gives the rate of that part; it cannot where the node's label
 *     names a model of another weight than the GPU's own
 */
record Estimate(Part charged, long rate, boolean isExplained) {

    /** What the ledger estimated of a pod; null if it charged all of it by the pod's own GPU. */
    static @Nullable Estimate of(Bill bill, Charged charged, String formula) {
        Held alike = bill.onAverage();
        if (alike == null) {
            return null;
        }
        long rate = bill.rate(formula, charged.weight());
        List<Part> others = charged.parts().stream().filter(it -> it.rate() != rate).toList();
        List<Part> own = charged.parts().stream().filter(it -> it.rate() == rate).toList();
        if (others.size() != 1) {
            return null;
        }
        Part first = others.getFirst();
        boolean isFirst = own.stream().noneMatch(it -> it.from().isBefore(first.to()));
        boolean isExplained = first.rate() == Bill.rate(alike, formula, charged.weight());
        // A pod that was never charged by its own GPU at all is not excused by any rate.
        return first.rate() > 0 && isFirst && (isExplained || !own.isEmpty())
                ? new Estimate(first, rate, isExplained)
                : null;
    }

    /** Micro-GPU-seconds by which the estimate is more than what the pod's own GPU costs. */
    long excess() {
        return Math.multiplyExact(charged.rate() - rate, charged.amount() / charged.rate());
    }

    /** What is not judged, and why. */
    String why() {
        return isExplained
                ? "from %s to %s it was charged as if its node's GPUs were alike; no log says when its own could be read"
                        .formatted(charged.from(), charged.to())
                : "from %s to %s it was charged at another rate, before its GPU could be read; the log does not say by which weight"
                        .formatted(charged.from(), charged.to());
    }
}
