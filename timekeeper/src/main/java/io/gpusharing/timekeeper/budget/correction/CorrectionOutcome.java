package io.gpusharing.timekeeper.budget.correction;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.kubernetes.GpuCorrection;
import io.gpusharing.timekeeper.ledger.correction.Corrections.Written;
import java.util.List;
import java.util.UUID;

/** What became of a {@code GpuCorrection}. */
sealed interface CorrectionOutcome {

    /** As its status says it. */
    GpuCorrection.Status status();

    /**
     * It stands in the ledger.
     *
     * @param entries at least one, oldest first
     */
    record Posted(UUID pod, List<Written> entries) implements CorrectionOutcome {

        @Override
        public GpuCorrection.Status status() {
            var amount = new GpuTime(entries.stream().mapToLong(Written::amount).sum());
            return new GpuCorrection.Status(
                    entries.getFirst().postedAt().toString(),
                    pod.toString(),
                    entries.stream()
                            .limit(GpuCorrection.MOST_ENTRIES)
                            .map(it ->
                                    new GpuCorrection.Entry(
                                            it.from().toString(),
                                            it.to().toString(),
                                            it.namespace(),
                                            it.rate(),
                                            it.amount()))
                            .toList(),
                    entries.size(),
                    amount.microGpuSeconds(),
                    amount.minutes(),
                    null);
        }
    }

    /** A rule of the ledger forbids it, now and later. */
    record Refused(Rule rule, String message) implements CorrectionOutcome {

        @Override
        public GpuCorrection.Status status() {
            return GpuCorrection.Status.refused(new GpuCorrection.Refused(rule.name(), message));
        }
    }

    /** The rule that forbids it. */
    enum Rule {
        /** The object does not name who made it, which admission writes. */
        AuthorUnknown,
        /** No such pod held a GPU in that time. */
        PodUnknown,
        /** Several pods of that name did. */
        SeveralPods,
        /** Not all of that time is posted. */
        NotPosted,
        /** The budget was charged for none of it. */
        BudgetPaidNothing,
        /** Nobody is charged for more than the pod held. */
        MoreThanHeld,
        /** All of it is charged just so. */
        NothingDiffers
    }
}
