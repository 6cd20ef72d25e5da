package io.gpusharing.scheduler.explaining;

import io.gpusharing.request.PodRequest;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Waiter;
import io.gpusharing.sharing.Amounts;
import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.wire.Explanation.State;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The pod that is asked about.
 *
 * @param waiter what it needs; also of one that does not wait, as if it did
 * @param request what its containers ask for, of every resource
 * @param others what it needs of its node that is no GPU
 * @param node where it is bound; null if it is not
 * @param placed what its containers ask for, each on the GPUs that were chosen for it if any were
 * @param notJudged what decides about its place and was not looked at, in words
 */
public record Subject(
        Waiter waiter,
        State state,
        PodRequest request,
        Amounts others,
        @Nullable String node,
        List<ContainerAsk> placed,
        List<String> notJudged) {

    public Subject {
        placed = List.copyOf(placed);
        notJudged = List.copyOf(notJudged);
    }

    List<ContainerAsk> asks() {
        return waiter.ask().containers();
    }
}
