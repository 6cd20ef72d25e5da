package io.gpusharing.timekeeper.provider;

import io.fabric8.kubernetes.api.model.ObjectReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.Events;
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.kubernetes.PodPhase;
import io.gpusharing.timekeeper.cluster.EvictionApi;
import io.gpusharing.timekeeper.cluster.EvictionApi.Answer;
import io.gpusharing.timekeeper.cluster.EvictionApi.Result;
import io.gpusharing.timekeeper.leader.LeaderTask;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/**
 * Evicts pods that hold more memory of a GPU than they were given, for as long as the site gives
 * them; by default it evicts nobody. A pod is read before it is evicted: an agent is believed about
 * pods of its own node alone, and pods or namespaces that an administrator has exempted stay.
 */
@Component
class MemoryEvictor extends LeaderTask {

    private static final Logger log = LoggerFactory.getLogger(MemoryEvictor.class);

    private static final Duration AGAIN = Duration.ofMinutes(1);

    /** Classes above belong to the cluster itself. */
    private static final int HIGHEST_USER_PRIORITY = 1_000_000_000;

    private final KubernetesClient client;
    private final PodEvictions evictions;
    private final MemoryExcesses excesses;
    private final MemoryEvictions receipts;
    private final ProviderProperties.MemoryOveruse policy;

    /** Those that were looked at, and when they are again. */
    private final Map<UUID, Instant> resting = new HashMap<>();

    MemoryEvictor(
            KubernetesClient client,
            MemoryExcesses excesses,
            MemoryEvictions receipts,
            ProviderProperties properties,
            MeterRegistry registry,
            Leadership leadership,
            Clock clock) {
        super("memory-evictor", leadership, clock);
        this.client = EvictionApi.askingOnce(client);
        this.evictions =
                new PodEvictions(
                        client,
                        registry,
                        "gpusharing.provider.memory.evictions",
                        "Pods that were to be evicted because they held more GPU memory than they were given, by what became of that");
        this.excesses = excesses;
        this.receipts = receipts;
        this.policy = properties.memoryOveruse();
    }

    @Override
    protected void takeOver() {
        resting.clear();
    }

    @Override
    protected @Nullable Instant work(Instant now) {
        resting.values().removeIf(until -> !until.isAfter(now) || until.isAfter(now.plus(AGAIN)));
        if (policy.evicts()) {
            for (MemoryExcess excess : excesses.lasting(policy.after(), now)) {
                if (isDue(excess, now)) {
                    evict(excess, now);
                }
            }
        }
        for (MemoryExcess excess : receipts.open()) {
            if (isDue(excess, now)) {
                // The answer did not arrive, or could not be written down.
                receipts.record(
                        excess,
                        isThere(pod(excess), excess)
                                ? new Answer(Result.Refused, "no answer came, and it runs still")
                                : new Answer(Result.Ended, ""));
            }
        }
        return null;
    }

    /** Before it is asked for: whatever goes wrong, the others have their turn. */
    private boolean isDue(MemoryExcess excess, Instant now) {
        return leads() && resting.putIfAbsent(excess.pod(), now.plus(AGAIN)) == null;
    }

    private @Nullable Pod pod(MemoryExcess excess) {
        return client.pods().inNamespace(excess.namespace()).withName(excess.name()).get();
    }

    private void evict(MemoryExcess excess, Instant now) {
        Pod pod = pod(excess);
        if (pod == null || !isThere(pod, excess) || !isMeant(pod, excess) || isExempt(pod)) {
            return;
        }
        ObjectReference reference =
                Events.pod(excess.namespace(), excess.name(), excess.pod().toString());
        receipts.plan(excess, now);
        Answer answer = answer(reference, pod);
        evictions.count(answer);
        log.atInfo()
                .addKeyValue("pod", excess.namespace() + "/" + excess.name())
                .addKeyValue("node", excess.node())
                .addKeyValue("reason", excess.words())
                .addKeyValue("result", answer.result())
                .addKeyValue("detail", answer.detail())
                .log("asked for the eviction of a pod that holds too much GPU memory");
        if (answer.result() == Result.Ended) {
            evictions.tell(
                    reference,
                    "memory-" + excess.pod().toString().substring(0, 8),
                    "GpuMemoryExceeded",
                    "Evicted, because it %s. Ask for more memory, or let its programs take less. A pod of a controller is made anew"
                            .formatted(excess.words()),
                    now);
        }
        receipts.record(excess, answer);
    }

    /** What it says else is no eviction either. */
    private Answer answer(ObjectReference reference, Pod pod) {
        try {
            return evictions.evict(reference, pod);
        } catch (KubernetesClientException e) {
            if (e.getCode() == 0) {
                throw e;
            }
            return new Answer(Result.Refused, String.valueOf(e.getMessage()));
        }
    }

    private static boolean isThere(@Nullable Pod pod, MemoryExcess excess) {
        return pod != null
                && excess.pod().toString().equals(pod.getMetadata().getUid())
                && pod.getMetadata().getDeletionTimestamp() == null
                && !PodPhase.hasEnded(pod);
    }

    /** An agent is believed about pods of its own node alone. */
    private static boolean isMeant(Pod pod, MemoryExcess excess) {
        Integer priority = pod.getSpec().getPriority();
        return excess.node().equals(pod.getSpec().getNodeName())
                && isTrue(pod.getMetadata().getLabels(), Names.METERED_LABEL)
                && (priority == null || priority <= HIGHEST_USER_PRIORITY);
    }

    private boolean isExempt(Pod pod) {
        var namespace = client.namespaces().withName(pod.getMetadata().getNamespace()).get();
        return isTrue(pod.getMetadata().getAnnotations(), Names.DO_NOT_RECLAIM_ANNOTATION)
                || (namespace != null
                        && isTrue(
                                namespace.getMetadata().getAnnotations(),
                                Names.DO_NOT_RECLAIM_ANNOTATION));
    }

    private static boolean isTrue(@Nullable Map<String, String> entries, String key) {
        return entries != null && "true".equals(entries.get(key));
    }
}
