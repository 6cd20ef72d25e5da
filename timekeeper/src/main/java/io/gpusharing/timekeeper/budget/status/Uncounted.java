package io.gpusharing.timekeeper.budget.status;

import io.gpusharing.request.Quantity;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * GPUs that nodes offer and nobody is charged for.
 *
 * @param offers by resource name, in order
 * @param message a sentence for who has a budget; empty if there is nothing to say
 */
record Uncounted(Map<String, Offer> offers, String message) {

    /** So many are named. */
    private static final int MAX_NAMES = 10;

    /**
     * What nodes offer of one resource.
     *
     * @param nodes how many of them have any
     * @param units the sum of theirs
     */
    record Offer(int nodes, long units) {

        Offer plus(Offer other) {
            return new Offer(nodes + other.nodes, units + other.units);
        }
    }

    /**
     * @param nodes the GPUs of each node, by resource name
     * @param counted whether pods that ask for the resource are charged
     */
    static Uncounted of(Collection<Map<String, Quantity>> nodes, Predicate<String> counted) {
        var offers = new TreeMap<String, Offer>();
        for (Map<String, Quantity> node : nodes) {
            node.forEach((resource, amount) -> {
                long units = amount.wholeNumber().orElse(0);
                if (units > 0 && !counted.test(resource)) {
                    offers.merge(resource, new Offer(1, units), Offer::plus);
                }
            });
        }
        return new Uncounted(offers, message(offers));
    }

    boolean none() {
        return offers.isEmpty();
    }

    private static String message(Map<String, Offer> offers) {
        if (offers.isEmpty()) {
            return "";
        }
        String named =
                offers.entrySet().stream()
                        .limit(MAX_NAMES)
                        .map(it -> {
                            int nodes = it.getValue().nodes();
                            return "%s on %d %s"
                                    .formatted(it.getKey(), nodes, nodes == 1 ? "node" : "nodes");
                        })
                        .collect(Collectors.joining(", "));
        int more = offers.size() - MAX_NAMES;
        return "Pods that ask for these get GPUs and are charged nothing: "
                + named
                + (more > 0 ? " and %d more".formatted(more) : "");
    }
}
