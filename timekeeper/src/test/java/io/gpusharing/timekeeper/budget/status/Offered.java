package io.gpusharing.timekeeper.budget.status;

import io.gpusharing.request.Quantity;
import java.util.List;
import java.util.Map;

/** GPUs of nodes, for tests of other packages, too. */
public final class Offered {

    private Offered() {}

    /** Of these nodes, nothing is counted. */
    public static Uncounted uncounted(List<Map<String, Quantity>> nodes) {
        return Uncounted.of(nodes, resource -> false);
    }

    /** A node that offers one resource. */
    public static Map<String, Quantity> node(String resource, long units) {
        return Map.of(resource, Quantity.of(units));
    }
}
