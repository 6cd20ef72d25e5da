package io.gpusharing.timekeeper.ledger.posting;

import io.gpusharing.timekeeper.allocation.Weight;
import io.gpusharing.timekeeper.allocation.Weights;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Objects;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.stereotype.Component;

/** The installation's weights. Pods on a model that has none are counted in a metric. */
@Component
public class ModelWeights {

    private static final Logger log = LoggerFactory.getLogger(ModelWeights.class);

    private final Weights weights;
    private final MeterRegistry registry;

    @Autowired
    public ModelWeights(WeightProperties properties, MeterRegistry registry) {
        this(properties.weights(), registry);
    }

    public ModelWeights(Weights weights, MeterRegistry registry) {
        this.weights = weights;
        this.registry = registry;
    }

    /** What they are, for whoever binds nothing. */
    public Weights all() {
        return weights;
    }

    /**
     * The weight of its GPUs for a pod that is bound at an instant.
     *
     * @param find by which GPUs it is
     */
    Weight of(Function<Weights, Weight> find) {
        Weight weight = find.apply(weights);
        if (!weight.known()) {
            String model = Objects.requireNonNullElse(weight.model(), "");
            var pods = registry.counter("gpusharing.ledger.pods.unweighed", "model", model);
            pods.increment();
            if (pods.count() == 1) {
                log.atWarn()
                        .addKeyValue("model", model)
                        .addKeyValue("weight", weights.usual())
                        .log("this GPU model has no weight, the usual one stands in");
            }
        }
        return weight;
    }
}
