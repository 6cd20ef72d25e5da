package io.gpusharing.cli.ledger;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What a pod holds of GPUs now, as the ledger gives it. */
record PodUsage(Metadata metadata, Status status) {

    private static final BigDecimal HUNDRED = new BigDecimal(100);

    /** By which the pod is known. */
    record Metadata(String namespace, String name, String uid) {}

    /**
     * As of the moment of the question.
     *
     * @param gpus what is charged a minute, in GPU-minutes
     * @param computePart what it holds of GPUs, whatever they cost
     * @param memoryPart the same of their memory
     * @param measured null if nobody has measured it
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Status(
            String node,
            String budget,
            String gpus,
            String computePart,
            String memoryPart,
            Instant since,
            String chargedMinutes,
            @Nullable Use measured) {}

    /**
     * What it did.
     *
     * @param busyPercent of what it held while it was watched; null if that was never, or is not
     *     certain
     * @param busyAtMostPercent the most that it can have been, where it is not certain
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Use(
            String meter,
            String basis,
            String minutes,
            @Nullable String busyPercent,
            @Nullable String busyAtMostPercent,
            Instant lastReport) {}

    /** How busy it was, in words; empty if nobody watched. */
    static String busy(@Nullable String percent, @Nullable String atMost) {
        return percent != null ? percent + "%" : atMost == null ? "" : "<=" + atMost + "%";
    }

    /**
     * Of what it holds, GPUs that were for certain not busy while it was watched; empty if it never
     * was.
     */
    Optional<BigDecimal> idle() {
        return Optional.ofNullable(status.measured())
                .flatMap(it ->
                        Optional.ofNullable(it.busyPercent())
                                .or(() -> Optional.ofNullable(it.busyAtMostPercent())))
                .map(busy -> HUNDRED.subtract(new BigDecimal(busy)).max(BigDecimal.ZERO))
                .map(idle -> held().multiply(idle).divide(HUNDRED, 2, RoundingMode.HALF_UP));
    }

    /** By which the ledger says how busy it was. */
    private BigDecimal held() {
        var compute = new BigDecimal(status.computePart());
        return compute.signum() > 0 ? compute : new BigDecimal(status.memoryPart());
    }
}
