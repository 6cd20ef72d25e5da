package io.gpusharing.scheduler.extender;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import io.gpusharing.Names;
import io.gpusharing.placement.ProviderAsk;
import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.Quantity;
import io.gpusharing.scheduler.cluster.SchedulerName;
import io.gpusharing.scheduler.gpus.GpuPod;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A pod in a question of kube-scheduler's, of which the rest is passed over by the parser. */
@JsonIgnoreProperties(ignoreUnknown = true)
record ExtenderPod(Metadata metadata, Spec spec) {

    @JsonIgnoreProperties(ignoreUnknown = true)
    record Metadata(
            String uid, String namespace, String name, @Nullable Map<String, String> labels) {}

    @JsonIgnoreProperties(ignoreUnknown = true)
    record Spec(
            @Nullable String schedulerName,
            List<Container> containers,
            @Nullable List<Container> initContainers) {}

    @JsonIgnoreProperties(ignoreUnknown = true)
    record Container(String name, @Nullable String restartPolicy, @Nullable Resources resources) {

        private ContainerRequest request(Kind kind) {
            return new ContainerRequest(
                    name,
                    kind,
                    resources == null ? Map.of() : amounts(resources.limits()),
                    resources == null ? Map.of() : amounts(resources.requests()));
        }

        /** Extended resources alone: the others are in no domain. */
        private static Map<String, Quantity> amounts(@Nullable Map<String, String> texts) {
            var amounts = new HashMap<String, Quantity>();
            if (texts != null) {
                texts.forEach((name, amount) -> {
                    if (name.indexOf('/') > 0) {
                        amounts.put(name, Quantity.parse(amount));
                    }
                });
            }
            return amounts;
        }
    }

    @JsonIgnoreProperties(ignoreUnknown = true)
    record Resources(
            @Nullable Map<String, String> limits, @Nullable Map<String, String> requests) {}

    /** Whether we see what becomes of it; see {@code PodWatch}. */
    boolean isFollowed(SchedulerName ours) {
        Map<String, String> labels = metadata.labels() == null ? Map.of() : metadata.labels();
        return ours.name().equals(spec.schedulerName())
                || "true".equals(labels.get(Names.METERED_LABEL));
    }

    /** What it asks of physical GPUs. */
    GpuPod gpuPod(ProviderAsk asks) {
        var containers = new ArrayList<ContainerRequest>();
        spec.containers().forEach(it -> containers.add(it.request(Kind.App)));
        if (spec.initContainers() != null) {
            for (Container container : spec.initContainers()) {
                containers.add(
                        container.request(
                                "Always".equals(container.restartPolicy())
                                        ? Kind.NativeSidecar
                                        : Kind.Init));
            }
        }
        return new GpuPod(
                metadata.uid(),
                metadata.namespace(),
                metadata.name(),
                asks.of(new PodRequest(containers)));
    }
}
