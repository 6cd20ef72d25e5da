package io.gpusharing.timekeeper.aggregated;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.gpusharing.request.GpuShare;
import io.gpusharing.timekeeper.aggregated.Table.Column;
import io.gpusharing.timekeeper.statement.PodCharges.PodCharge;
import io.gpusharing.timekeeper.usage.Busy;
import io.gpusharing.timekeeper.usage.MeasuredUse.Measured;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** What a pod holds of GPUs, what it was charged for that, and what it was measured to do. */
record PodUsage(String kind, String apiVersion, Metadata metadata, Status status) {

    private static final String KIND = "PodUsage";
    private static final String UNKNOWN = "<unknown>";

    /** The columns of {@link #cells}. */
    static final List<Column> COLUMNS =
            List.of(
                    Column.ofNames(),
                    new Column("GPUs", "What the pod holds, in whole GPUs"),
                    new Column("Held", "Since when"),
                    new Column("Charged", "GPU-minutes until now"),
                    new Column("Busy", "How much of what it holds it used, while it was watched"),
                    new Column("Budget", "Who pays"),
                    new Column("Node", "Where it runs").wide(),
                    new Column("Measured", "GPU-minutes that it was busy").wide(),
                    new Column("Basis", "How that was measured").wide(),
                    new Column("Since", "When it began to hold them").wide());

    /**
     * By which a pod is known.
     *
     * @param uid the pod's
     * @param creationTimestamp when it began to hold GPUs
     */
    record Metadata(
            String name,
            String namespace,
            UUID uid,
            Instant creationTimestamp,
            Map<String, String> labels) {

        static Metadata of(PodCharge charge) {
            return new Metadata(
                    charge.name(),
                    charge.namespace(),
                    charge.uid(),
                    charge.from(),
                    Map.of(
                            "gpusharing.io/budget", charge.budget(),
                            "gpusharing.io/node", charge.node()));
        }
    }

    /**
     * As of the moment of the question. Amounts are GPU-minutes, parts are of one GPU.
     *
     * @param gpus what is charged a minute, in GPU-minutes: the share by the budget's rule, times
     *     the weight of the GPU's model
     * @param shareKnown false if the node does not say what the request is worth, so that a default
     *     stands in
     * @param sinceEstimated whether no clock that can be right says when it began
     * @param charged in micro-GPU-seconds, exactly
     * @param measured absent if nobody has measured it
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Status(
            String node,
            String budget,
            String gpus,
            String computePart,
            String memoryPart,
            boolean shareKnown,
            Instant since,
            boolean sinceEstimated,
            String chargedMinutes,
            long charged,
            @Nullable Use measured) {}

    /**
     * What it did.
     *
     * @param meter who measured it, {@code Agent} or {@code Sidecar}
     * @param basis how, by device
     * @param basisReason why no better; absent if there is none
     * @param busyPercent of what it held while it was watched; absent if that was never, or is not
     *     certain
     * @param busyAtMostPercent the most that it can have been; absent where it is certain
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Use(
            String meter,
            String basis,
            @Nullable String basisReason,
            String minutes,
            @Nullable String busyPercent,
            @Nullable String busyAtMostPercent,
            Instant lastReport) {

        private String busy() {
            return busyPercent != null
                    ? busyPercent + "%"
                    : busyAtMostPercent == null ? UNKNOWN : "<=" + busyAtMostPercent + "%";
        }
    }

    /**
     * What the ledger says of a pod.
     *
     * @param use null if nobody has measured it
     */
    static PodUsage of(PodCharge charge, @Nullable Measured use) {
        return new PodUsage(
                KIND,
                Discovery.API_VERSION,
                Metadata.of(charge),
                new Status(
                        charge.node(),
                        charge.budget(),
                        GpuShare.inGpus(charge.rate()),
                        GpuShare.inGpus(charge.computePart()),
                        GpuShare.inGpus(charge.memoryPart()),
                        charge.shareKnown(),
                        charge.from(),
                        charge.beginEstimated(),
                        charge.chargedMinutes(),
                        charge.charged(),
                        use == null ? null : use(use, charge.busyPart())));
    }

    private static Use use(Measured use, long part) {
        Busy busy = use.busy(part);
        return new Use(
                use.meter(),
                use.basis(),
                use.basisReason(),
                use.measuredMinutes(),
                busy.percent(),
                busy.atMostPercent(),
                use.lastReport());
    }

    /** In one line. */
    List<String> cells(Instant now) {
        Use use = status.measured();
        return List.of(
                metadata.name(),
                status.gpus(),
                Age.of(status.since(), now),
                status.chargedMinutes(),
                use == null ? UNKNOWN : use.busy(),
                status.budget().isEmpty() ? "<none>" : status.budget(),
                status.node(),
                use == null ? UNKNOWN : use.minutes(),
                use == null ? UNKNOWN : use.basis(),
                status.since().toString());
    }
}
