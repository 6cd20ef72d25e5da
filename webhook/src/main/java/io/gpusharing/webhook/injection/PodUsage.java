package io.gpusharing.webhook.injection;

import io.gpusharing.request.Quantity;
import io.gpusharing.webhook.cluster.Quota.Traits;
import io.gpusharing.webhook.review.PodView;
import io.gpusharing.webhook.review.PodView.Container;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What a pod takes of cpu and memory without us, added up as LimitRanges and quotas do
 * (k8s.io/component-helpers, resource). Whatever we add comes on top of all of it, since ours is
 * there from the first init container to the pod's end.
 */
record PodUsage(PodView pod) {

    BigDecimal limits(String name) {
        return sum(container -> container.limits().get(name));
    }

    BigDecimal limitsWithOverhead(String name) {
        BigDecimal limits = limits(name);
        return limits.signum() == 0 ? limits : limits.add(overhead(name));
    }

    BigDecimal requestsWithOverhead(String name) {
        // The API server has written the limit where a request was left out.
        return sum(container -> container.requests().get(name)).add(overhead(name));
    }

    /** What quotas see of the pod as it is. */
    Traits traits(@Nullable String priorityClass) {
        boolean bestEffort =
                pod.allContainers().stream()
                        .allMatch(it -> asksForNone(it.limits()) && asksForNone(it.requests()));
        return new Traits(bestEffort, pod.spec().deadline(), priorityClass);
    }

    /** What they see of it with a container that asks for cpu and memory. */
    Traits burstable(@Nullable String priorityClass) {
        return new Traits(false, pod.spec().deadline(), priorityClass);
    }

    private static boolean asksForNone(Map<String, Quantity> amounts) {
        return List.of("cpu", "memory").stream()
                .allMatch(name -> !amounts.containsKey(name) || amounts.get(name).isZero());
    }

    private BigDecimal overhead(String name) {
        Quantity overhead = pod.spec().overhead().get(name);
        return overhead == null ? BigDecimal.ZERO : overhead.value();
    }

    private BigDecimal sum(Function<Container, @Nullable Quantity> amount) {
        BigDecimal running = BigDecimal.ZERO;
        for (Container container : pod.spec().containers()) {
            running = running.add(value(amount.apply(container)));
        }
        BigDecimal sidecars = BigDecimal.ZERO;
        BigDecimal peak = BigDecimal.ZERO;
        for (Container container : pod.initContainers()) {
            BigDecimal own = value(amount.apply(container));
            if (container.alwaysRestarts()) {
                sidecars = sidecars.add(own);
                peak = peak.max(sidecars);
            } else {
                peak = peak.max(sidecars.add(own));
            }
        }
        return peak.max(running.add(sidecars));
    }

    private static BigDecimal value(@Nullable Quantity amount) {
        return amount == null ? BigDecimal.ZERO : amount.value();
    }
}
