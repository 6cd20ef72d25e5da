package io.gpusharing.webhook.cluster;

import io.gpusharing.request.Quantity;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Reads amounts of the cluster's objects. The client's own class takes fewer than Kubernetes. */
final class Amounts {

    private Amounts() {}

    /**
     * @throws IllegalArgumentException if it is none
     */
    static Quantity of(io.fabric8.kubernetes.api.model.Quantity found) {
        return Quantity.parse(found.toString());
    }

    /**
     * The amounts of some resources, by name; none of null.
     *
     * @throws IllegalArgumentException if one is none
     */
    static Map<String, Quantity> of(
            @Nullable Map<String, io.fabric8.kubernetes.api.model.Quantity> found,
            Predicate<String> resource) {
        var amounts = new HashMap<String, Quantity>();
        if (found != null) {
            found.forEach((name, amount) -> {
                if (resource.test(name)) {
                    amounts.put(name, of(amount));
                }
            });
        }
        return amounts;
    }
}
