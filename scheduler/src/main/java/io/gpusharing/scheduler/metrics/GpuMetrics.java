package io.gpusharing.scheduler.metrics;

import io.gpusharing.scheduler.gpus.ClusterGpus;
import io.gpusharing.scheduler.gpus.NodeUse;
import io.gpusharing.scheduler.gpus.RoomEnd;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.MultiGauge.Row;
import io.micrometer.core.instrument.Tags;
import java.util.List;
import java.util.Locale;
import java.util.function.ToIntFunction;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * How much of the GPUs is in use, and how it is broken into pieces. Every replica sees the same.
 */
@Component
final class GpuMetrics {

    private final ClusterGpus gpus;
    private final MultiGauge largestFree;
    private volatile List<NodeUse> nodes = List.of();

    GpuMetrics(MeterRegistry registry, ClusterGpus gpus) {
        this.gpus = gpus;
        this.largestFree =
                MultiGauge.builder("gpusharing.scheduler.largest.free")
                        .description(
                                "What is free of the GPU of each node of which most is, 0 to 1")
                        .baseUnit("ratio")
                        .register(registry);
        gauge(registry, "idle", NodeUse::idle);
        gauge(registry, "shared", NodeUse::shared);
        gauge(registry, "whole", NodeUse::whole);
        gauge(registry, "unhealthy", NodeUse::unhealthy);
        Gauge.builder("gpusharing.scheduler.waiting", gpus, ClusterGpus::waiting)
                .description("Pods for which there was no room when they were asked about last")
                .baseUnit("pods")
                .register(registry);
        Gauge.builder("gpusharing.scheduler.reservations", gpus, ClusterGpus::rooms)
                .description("Pods for which others had to go, and for which their GPUs are kept")
                .register(registry);
        for (RoomEnd how : RoomEnd.values()) {
            FunctionCounter.builder(
                            "gpusharing.scheduler.reservations.ended",
                            gpus,
                            it -> it.roomsEnded(how))
                    .description("Pods for which GPUs are not kept any more, by what became of it")
                    .tag("outcome", how.name().toLowerCase(Locale.ROOT))
                    .register(registry);
        }
    }

    private void gauge(MeterRegistry registry, String mode, ToIntFunction<NodeUse> count) {
        Gauge.builder(
                        "gpusharing.scheduler.gpus",
                        this,
                        it -> it.nodes.stream().mapToInt(count).sum())
                .description("GPUs that our device plugin shares, by who has them")
                .tag("mode", mode)
                .register(registry);
    }

    /** Thousands of nodes: not at each scrape, of which there may be several. */
    @Scheduled(fixedDelay = 10_000)
    void look() {
        nodes = gpus.use();
        largestFree.register(
                nodes.stream()
                        .map(node ->
                                Row.of(
                                        Tags.of("node", node.node(), "model", node.model()),
                                        node.largestFree()))
                        .toList(),
                true);
    }
}
