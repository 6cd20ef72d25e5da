package io.gpusharing.timekeeper.reclaim.plan;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import java.math.BigDecimal;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a pod takes of its node, as kube-scheduler counts it (k8s.io/component-helpers, resource):
 * the larger of all app containers and each init step, native sidecars beside both, pod-level
 * requests instead of the containers' where there are any, the runtime's overhead, one pod slot.
 */
public final class PodAmounts {

    private PodAmounts() {}

    public static Amounts of(PodSpec spec) {
        Amounts running = Amounts.NONE;
        for (Container container : spec.getContainers()) {
            running = running.plus(requests(container.getResources()));
        }
        Amounts sidecars = Amounts.NONE;
        Amounts peak = Amounts.NONE;
        for (Container container : spec.getInitContainers()) {
            Amounts own = requests(container.getResources());
            if ("Always".equals(container.getRestartPolicy())) {
                sidecars = sidecars.plus(own);
                peak = peak.max(sidecars);
            } else {
                peak = peak.max(sidecars.plus(own));
            }
        }
        return peak.max(running.plus(sidecars))
                .overriddenBy(requests(spec.getResources()))
                .plus(amounts(spec.getOverhead()))
                .plus(new Amounts(Map.of(Amounts.PODS, BigDecimal.ONE)));
    }

    public static Amounts amounts(@Nullable Map<String, Quantity> quantities) {
        if (quantities == null) {
            return Amounts.NONE;
        }
        var amounts = new HashMap<String, BigDecimal>();
        quantities.forEach((name, quantity) -> amounts.put(name, quantity.getNumericalAmount()));
        return new Amounts(amounts);
    }

    /** A limit without a request is one. */
    private static Amounts requests(@Nullable ResourceRequirements resources) {
        return resources == null
                ? Amounts.NONE
                : amounts(resources.getLimits()).overriddenBy(amounts(resources.getRequests()));
    }
}
