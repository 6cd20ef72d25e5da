package io.gpusharing.deviceplugin;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.gpusharing.deviceplugin.gpu.NodeGpu;
import io.gpusharing.deviceplugin.gpu.NodeGpus;
import io.gpusharing.deviceplugin.grant.Grants;
import io.gpusharing.deviceplugin.grant.PodGrant;
import io.gpusharing.deviceplugin.kubelet.DeviceResource;
import io.gpusharing.deviceplugin.mps.CooperativeMps;
import io.gpusharing.deviceplugin.start.Disagreement;
import io.gpusharing.wire.GpuHold;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.CounterWithCallback;
import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/** What Prometheus may read: GPUs, what is granted of each, and starts of containers. */
final class PluginMetrics {

    private static final double CORES = NodeGpu.CORES;

    private final PrometheusRegistry registry = new PrometheusRegistry();
    private final NodeGpus gpus;
    private final Grants grants;
    private final Counter starts;
    private final Histogram seconds;

    PluginMetrics(NodeGpus gpus, Grants grants) {
        this.gpus = gpus;
        this.grants = grants;
        GaugeWithCallback.builder()
                .name("gpusharing_gpu_healthy")
                .help("1 while containers may start on the GPU.")
                .labelNames("uuid", "model")
                .callback(this::health)
                .register(registry);
        GaugeWithCallback.builder()
                .name("gpusharing_gpu_granted")
                .help("The part of the GPU's processors that pods hold, 0 to 1.")
                .labelNames("uuid")
                .callback(this::granted)
                .register(registry);
        starts =
                Counter.builder()
                        .name("gpusharing_container_starts_total")
                        .help("Starts of containers with GPUs that the kubelet asked for.")
                        .labelNames("result")
                        .register(registry);
        seconds =
                Histogram.builder()
                        .name("gpusharing_container_start_seconds")
                        .help("How long the kubelet waited for the answer.")
                        .classicOnly()
                        .register(registry);
        starts.initLabelValues("prepared");
        starts.initLabelValues("refused");
    }

    /** Adds whether containers can reach GPUs that they were not given, where that is known. */
    void isolation(Supplier<Optional<Boolean>> open) {
        GaugeWithCallback.builder()
                .name("gpusharing_gpus_open")
                .help("1 while containers can reach GPUs of this node that they were not given.")
                .callback(callback -> open.get().ifPresent(it -> callback.call(it ? 1 : 0)))
                .register(registry);
    }

    /** Adds of how many pods the kubelet and we do not say the same, by kind. */
    void disagreements(Supplier<Set<Disagreement>> lasting) {
        GaugeWithCallback.builder()
                .name("gpusharing_kubelet_drift")
                .help(
                        "Running pods of which the kubelet's table and the grants do not say the same.")
                .labelNames("kind")
                .callback(callback -> {
                    Set<Disagreement> all = lasting.get();
                    for (Disagreement.Kind kind : Disagreement.Kind.values()) {
                        callback.call(
                                (double) all.stream().filter(it -> it.kind() == kind).count(),
                                kind.name().toLowerCase(Locale.ROOT));
                    }
                })
                .register(registry);
    }

    /** Adds what MPS does, where the node serves it. */
    void mps(CooperativeMps mps) {
        GaugeWithCallback.builder()
                .name("gpusharing_mps_ready")
                .help(
                        "1 while the GPU's MPS daemon takes clients. GPUs that are not shared by MPS are left out.")
                .labelNames("uuid")
                .callback(callback ->
                        mps.ready().forEach((gpu, ready) -> callback.call(ready ? 1 : 0, gpu)))
                .register(registry);
        CounterWithCallback.builder()
                .name("gpusharing_mps_command_failures_total")
                .help("Commands that an MPS daemon did not carry out.")
                .labelNames("failure")
                .callback(callback ->
                        mps.failures()
                                .forEach((failure, count) -> callback.call(count, failure.name())))
                .register(registry);
        CounterWithCallback.builder()
                .name("gpusharing_mps_drains_total")
                .help("Attempts to end the MPS clients of a pod before it is killed.")
                .labelNames("result")
                .callback(callback ->
                        mps.drained().forEach((result, count) -> callback.call(count, result)))
                .register(registry);
    }

    private void health(GaugeWithCallback.Callback callback) {
        for (NodeGpu gpu : gpus.all()) {
            callback.call(gpu.isUsable() ? 1 : 0, gpu.uuid(), gpu.physical().model());
        }
    }

    private void granted(GaugeWithCallback.Callback callback) {
        List<GpuHold> held =
                grants.all().stream().map(PodGrant::held).flatMap(List::stream).toList();
        for (NodeGpu gpu : gpus.all()) {
            long cores =
                    held.stream()
                            .filter(hold -> hold.gpu().equals(gpu.uuid()))
                            .mapToLong(GpuHold::cores)
                            .sum();
            callback.call(cores / CORES, gpu.uuid());
        }
    }

    /** The same resource, its starts counted. */
    DeviceResource counted(DeviceResource resource) {
        return new DeviceResource() {
            @Override
            public String name() {
                return resource.name();
            }

            @Override
            public List<Device> devices() {
                return resource.devices();
            }

            @Override
            public List<String> preferred(List<String> available, List<String> needed, int size) {
                return resource.preferred(available, needed, size);
            }

            @Override
            public List<String> allocate(List<String> ids) {
                return resource.allocate(ids);
            }

            @Override
            public boolean decides() {
                return resource.decides();
            }

            @Override
            public void prepare(Set<String> ids) throws StartRefused {
                try (var _ = seconds.startTimer()) {
                    resource.prepare(ids);
                    starts.labelValues("prepared").inc();
                } catch (StartRefused e) {
                    starts.labelValues("refused").inc();
                    throw e;
                }
            }
        };
    }

    /** The page of {@code /metrics}. */
    String text() {
        var page = new ByteArrayOutputStream();
        try {
            PrometheusTextFormatWriter.create().write(page, registry.scrape());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return page.toString(UTF_8);
    }
}
