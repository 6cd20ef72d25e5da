package io.gpusharing.timekeeper.budget.notify;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.RequestConfigBuilder;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.kubernetes.OutageLog;
import io.gpusharing.kubernetes.PodFacts;
import io.gpusharing.timekeeper.budget.BudgetProperties;
import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.cluster.ClusterView;
import io.gpusharing.web.LeaderTask;
import java.net.HttpURLConnection;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/**
 * Writes on running pods when their budget is used up, from 15 minutes before, and takes it away
 * when that is not true any more ({@code gpusharing.budgets.annotate-pods}). Whatever a crash, an
 * outage or somebody else has left on a pod is seen on the pod, and mended.
 *
 * <p>It writes at a pace that no API server notices, and no pod again within ten seconds.
 */
@Component
class PodAnnotator extends LeaderTask {

    private static final Logger log = LoggerFactory.getLogger(PodAnnotator.class);
    private static final int UNPROCESSABLE = 422;

    /** How many pods are written in a turn. */
    static final int MAX_PODS = 20;

    /** Pods that came meanwhile trigger nothing. */
    private static final Duration LOOK = Duration.ofSeconds(30);

    private static final Duration TURN = Duration.ofSeconds(1);
    private static final Duration AGAIN = Duration.ofSeconds(10);
    private static final Duration AGAIN_IF_REFUSED = Duration.ofMinutes(1);

    private final KubernetesClient client;
    private final Budgets budgets;
    private final ClusterView view;
    private final boolean wanted;

    /** Pods that were written, or refused, and until when they are left alone. */
    private final Map<UUID, Instant> resting = new HashMap<>();

    /** Namespaces of which a refusal was logged. */
    private final Set<String> refusing = new HashSet<>();

    private Instant nextTurn = Instant.MIN;

    PodAnnotator(
            KubernetesClient client,
            Budgets budgets,
            ClusterView view,
            BudgetProperties properties,
            Leadership leadership,
            Clock clock) {
        super("pod-annotator", leadership, clock);
        // By itself the client asks again for 20 s; here the next turn does.
        this.client =
                client.newClient(new RequestConfigBuilder().withRequestRetryBackoffLimit(0).build())
                        .adapt(KubernetesClient.class);
        this.budgets = budgets;
        this.view = view;
        this.wanted = properties.annotatePods();
        if (wanted) {
            budgets.listen(states -> trigger());
        }
    }

    /** Without the right to change pods there is nothing to begin. */
    @Override
    public void start() {
        if (wanted) {
            super.start();
        }
    }

    @Override
    protected void takeOver() {
        resting.clear();
        refusing.clear();
        nextTurn = Instant.MIN;
    }

    @Override
    protected @Nullable Instant work(Instant now) {
        if (!budgets.settled()) {
            return null;
        }
        if (now.isBefore(nextTurn)) {
            return nextTurn;
        }
        nextTurn = now.plus(TURN);
        resting.values().removeIf(until -> !until.isAfter(now));
        Map<String, Instant> ends = PodAnnotation.ends(budgets.states().values(), now);
        List<PodAnnotation> missing =
                PodAnnotation.missing(view.pods(), ends, now).stream()
                        .filter(mark -> !resting.containsKey(mark.pod().uid()))
                        .toList();
        for (PodAnnotation mark : missing.subList(0, Math.min(MAX_PODS, missing.size()))) {
            if (!leads()) {
                return null;
            }
            write(mark, now);
        }
        return missing.size() > MAX_PODS ? nextTurn : sooner(now.plus(LOOK), next(ends, now));
    }

    /** When the next end comes into sight or has come, or a pod may be written again. */
    private @Nullable Instant next(Map<String, Instant> ends, Instant now) {
        Instant next = resting.values().stream().min(Instant::compareTo).orElse(null);
        for (Instant end : ends.values()) {
            Instant notice = end.minus(BudgetNotification.NOTICE);
            next = end.isAfter(now) ? sooner(next, notice.isAfter(now) ? notice : end) : next;
        }
        return next;
    }

    private void write(PodAnnotation mark, Instant now) {
        PodFacts pod = mark.pod();
        // Before it is asked for: whatever goes wrong, the others have their turn.
        resting.put(pod.uid(), now.plus(AGAIN));
        try {
            client.resource(named(pod))
                    .patch(
                            new PatchContext.Builder()
                                    .withPatchType(PatchType.JSON_MERGE)
                                    .withFieldManager(Names.TIMEKEEPER)
                                    .build(),
                            document(mark));
            refusing.remove(pod.namespace());
        } catch (KubernetesClientException e) {
            if (OutageLog.isOutageForAll(e)) {
                throw e;
            }
            resting.put(pod.uid(), now.plus(AGAIN_IF_REFUSED));
            if (!isGone(e) && refusing.add(pod.namespace())) {
                log.atWarn()
                        .addKeyValue("namespace", pod.namespace())
                        .addKeyValue("pod", pod.name())
                        .addKeyValue("code", e.getCode())
                        .addKeyValue("problem", e.getMessage())
                        .log("cannot annotate a pod with the end of its budget, trying again");
            }
        }
    }

    private static Pod named(PodFacts pod) {
        return new PodBuilder()
                .withNewMetadata()
                .withNamespace(pod.namespace())
                .withName(pod.name())
                .endMetadata()
                .build();
    }

    /** The UID cannot be changed, so another pod of the same name does not take it. */
    private static String document(PodAnnotation mark) {
        return "{\"metadata\":{\"uid\":\"%s\",\"annotations\":{\"%s\":%s}}}"
                .formatted(
                        mark.pod().uid(),
                        Names.EXHAUSTED_AT_ANNOTATION,
                        mark.end() == null ? "null" : "\"" + mark.end() + "\"");
    }

    private static boolean isGone(KubernetesClientException e) {
        return e.getCode() == HttpURLConnection.HTTP_NOT_FOUND
                || e.getCode() == HttpURLConnection.HTTP_CONFLICT
                || e.getCode() == UNPROCESSABLE;
    }
}
