package io.gpusharing.scheduler.preemption;

import io.gpusharing.scheduler.picture.BudgetAccount;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * How budgets stand now and whom administrators protect. The class of a pod says how its budget
 * stood when the pod was admitted, and cannot change.
 */
public interface PresentStandings {

    /** What is known now, for one decision. */
    Present now();

    /** What is known at one instant. For one thread. */
    interface Present {

        Instant at();

        /**
         * The budget that pays for a namespace; null if none limits it.
         *
         * @throws RuntimeException if the API server does not say whether budgets may be acted on
         */
        @Nullable BudgetAccount payer(String namespace);

        /** Whether an administrator protects all pods of a namespace. */
        boolean protects(String namespace);
    }
}
