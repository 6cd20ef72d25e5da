package io.gpusharing.timekeeper.allocation;

import io.gpusharing.request.NodeFacts;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What each GPU model costs, since when.
 *
 * @param usual millionths for models that are not among them
 */
public record Weights(long usual, List<OfModel> models) {

    /** Every model costs the same. */
    public static final Weights EQUAL = new Weights(Weight.ONE.millionths(), List.of());

    /**
     * Where NVIDIA's gpu-feature-discovery reports the model. A node that shares its GPUs among
     * pods, or cuts them, says so in a suffix; the model is the same.
     */
    static final String MODEL_LABEL = "nvidia.com/gpu.product";

    private static final Pattern SHARING_SUFFIX = Pattern.compile("-(SHARED|MIG-.*)$");

    /**
     * A model's weight.
     *
     * @param from first instant at which a pod is bound by it
     */
    public record OfModel(String model, long millionths, Instant from) {}

    public Weights {
        models = List.copyOf(models);
    }

    /** The weight of a node's GPUs for a pod that is bound at an instant. */
    public Weight at(Instant bound, NodeFacts node) {
        String label = node.labels().get(MODEL_LABEL);
        return at(bound, label == null ? null : SHARING_SUFFIX.matcher(label).replaceFirst(""));
    }

    /** The weight of a model for a pod that is bound at an instant; null for one without a name. */
    public Weight at(Instant bound, @Nullable String model) {
        Optional<OfModel> weighed =
                models.stream()
                        .filter(it -> it.model().equals(model) && !it.from().isAfter(bound))
                        .max(Comparator.comparing(OfModel::from));
        // Where nothing is weighed, every model is known to cost the same.
        return weighed.map(it -> new Weight(model, it.millionths(), true))
                .orElseGet(() -> new Weight(model, usual, models.isEmpty()));
    }
}
