package io.gpusharing.scheduler.preemption;

import io.gpusharing.scheduler.picture.BudgetAccount;
import io.gpusharing.sharing.Amounts;
import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.sharing.GpuGroup;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A pod for which there is no room.
 *
 * @param priority pods of a lower one may have to go for it
 * @param preempts whether it wants anybody to go; its {@code preemptionPolicy} may be {@code Never}
 * @param gang as in {@link RunningPod}
 * @param group with whom it is to share one GPU; null if with nobody
 * @param asks what its containers ask of GPUs of ours
 * @param requests what it takes of its node, as kube-scheduler counts it
 * @param payer whose budget pays for it, as that stands now; null if none limits it, and until that
 *     is looked up
 * @param since since when its scheduler has found no place for it; null if it has not said so yet
 */
public record Preemptor(
        String uid,
        String namespace,
        int priority,
        boolean preempts,
        String gang,
        @Nullable GpuGroup group,
        List<ContainerAsk> asks,
        Amounts requests,
        @Nullable BudgetAccount payer,
        @Nullable Instant since) {

    public Preemptor {
        asks = List.copyOf(asks);
    }

    /** The same, as if nodes had enough of everything else. */
    Preemptor byGpusAlone() {
        return with(priority, Amounts.NONE, payer);
    }

    /** The same with what its priority counts for now, and who pays for it. */
    Preemptor counting(int now, @Nullable BudgetAccount itsPayer) {
        return with(now, requests, itsPayer);
    }

    private Preemptor with(int now, Amounts taken, @Nullable BudgetAccount itsPayer) {
        return new Preemptor(
                uid, namespace, now, preempts, gang, group, asks, taken, itsPayer, since);
    }
}
