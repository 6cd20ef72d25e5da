package io.gpusharing.timekeeper.ledger.posting;

import io.gpusharing.timekeeper.allocation.Weights;
import io.gpusharing.timekeeper.allocation.Weights.OfModel;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * What GPU models cost beside each other. A pod keeps the weight by which it was bound.
 *
 * @param usual weight of models that are not listed; a metric says that there are any
 * @param models one row for each model and date
 */
@ConfigurationProperties("gpusharing.weights")
record WeightProperties(@DefaultValue("1") BigDecimal usual, @DefaultValue List<Model> models) {

    private static final BigDecimal LARGEST = BigDecimal.valueOf(1000);

    /**
     * A model's weight.
     *
     * @param model as the node label {@code nvidia.com/gpu.product} has it, for instance {@code
     *     NVIDIA-A100-SXM4-40GB}, without a suffix for sharing
     * @param weight 0 to 1000, at most six decimals
     * @param from first instant at which pods are bound by it, RFC 3339
     */
    record Model(
            String model, BigDecimal weight, @DefaultValue("1970-01-01T00:00:00Z") Instant from) {}

    Weights weights() {
        return new Weights(
                millionths("usual", usual),
                models.stream()
                        .map(it ->
                                new OfModel(
                                        it.model(), millionths(it.model(), it.weight()), it.from()))
                        .toList());
    }

    private static long millionths(String what, BigDecimal weight) {
        try {
            if (weight.signum() >= 0 && weight.compareTo(LARGEST) <= 0) {
                return weight.movePointRight(6).longValueExact();
            }
        } catch (ArithmeticException e) {
            // More than six decimals; said below.
        }
        throw new IllegalArgumentException(
                "gpusharing.weights: the weight of %s is %s; write 0 to 1000 with at most six decimals, for instance 2.5"
                        .formatted(what, weight.toPlainString()));
    }
}
