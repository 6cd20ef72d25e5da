package io.gpusharing.timekeeper.provider;

import static java.util.Objects.requireNonNull;

import io.fabric8.kubernetes.api.model.ObjectReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.Events;
import io.gpusharing.kubernetes.Events.Text;
import io.gpusharing.timekeeper.cluster.EvictionApi;
import io.gpusharing.timekeeper.cluster.EvictionApi.Answer;
import io.gpusharing.timekeeper.cluster.EvictionApi.Result;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Evicts pods for one reason, counts what became of that, and says it on them. */
final class PodEvictions {

    private static final Logger log = LoggerFactory.getLogger(PodEvictions.class);

    /** Other containers of the pod may run; reclaim gives its victims as much. */
    private static final Duration MAX_GRACE = Duration.ofMinutes(5);

    private final EvictionApi api;
    private final Events events;
    private final Map<Result, Counter> results = new EnumMap<>(Result.class);

    /**
     * @param metric name of the counter
     * @param description of the counter
     */
    PodEvictions(
            KubernetesClient client, MeterRegistry registry, String metric, String description) {
        this.api = new EvictionApi(client);
        this.events = new Events(EvictionApi.askingOnce(client), Names.TIMEKEEPER);
        for (Result result : Result.values()) {
            results.put(
                    result,
                    Counter.builder(metric)
                            .description(description)
                            .tag("result", result.name().toLowerCase(Locale.ROOT))
                            .register(registry));
        }
    }

    /**
     * Asks for it, with the pod's own grace or the longest that is given.
     *
     * @param reference with its UID
     * @throws KubernetesClientException if that is no answer, or the API server is away
     */
    Answer evict(ObjectReference reference, Pod pod) {
        return api.evict(reference, grace(pod), false);
    }

    private static @Nullable Duration grace(Pod pod) {
        Long own = pod.getSpec().getTerminationGracePeriodSeconds();
        return own != null && own > MAX_GRACE.toSeconds() ? MAX_GRACE : null;
    }

    void count(Answer answer) {
        requireNonNull(results.get(answer.result())).increment();
    }

    /**
     * Writes an Event on a pod that was evicted. If that fails the pod has ended all the same.
     *
     * @param key of the Event among those of the pod
     */
    void tell(ObjectReference pod, String key, String reason, String message, Instant now) {
        try {
            events.write(pod, key, new Text(Events.Type.Warning, reason, "Evict", message), now);
        } catch (KubernetesClientException e) {
            log.atWarn()
                    .addKeyValue("pod", pod.getNamespace() + "/" + pod.getName())
                    .setCause(e)
                    .log("cannot write an Event about the eviction");
        }
    }
}
