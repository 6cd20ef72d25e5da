package io.gpusharing.scheduler.explaining;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.kubernetes.ApiServerJson;
import io.gpusharing.kubernetes.ApiServerSerialization;
import io.gpusharing.scheduler.cluster.ClusterKnowledge;
import io.gpusharing.web.AccessReviews;
import io.gpusharing.web.Caller;
import io.gpusharing.web.PodRights;
import io.gpusharing.wire.Explanation;
import io.gpusharing.wire.ExplanationQuestion;
import io.gpusharing.wire.ExplanationQuestion.PodName;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Component;
import org.springframework.web.server.ResponseStatusException;

/**
 * Answers what the timekeeper passes on: three questions at once, each within ten seconds. Pods are
 * named where the person who asks may see them, by what the cluster's RBAC says of that person.
 */
@Component
public class PlacementQuestions {

    /** Memory for the cluster as it was read is there once, for what is made of it so often. */
    public static final int AT_ONCE = 3;

    private static final Duration PATIENCE = Duration.ofSeconds(10);

    /** Unlike the service's client it reads all of a pod: volumes, node selectors, gates. */
    private static final ApiServerSerialization PODS = ApiServerJson.serialization();

    private final PodExplanations explanations;
    private final ClusterKnowledge cluster;
    private final PodRights rights;
    private final Duration patience;
    private final Semaphore free = new Semaphore(AT_ONCE);

    @Autowired
    PlacementQuestions(
            PodExplanations explanations, ClusterKnowledge cluster, AccessReviews reviews) {
        this(explanations, cluster, reviews, PATIENCE);
    }

    /**
     * @param patience how long an answer may take
     */
    public PlacementQuestions(
            PodExplanations explanations,
            ClusterKnowledge cluster,
            AccessReviews reviews,
            Duration patience) {
        this.explanations = explanations;
        this.cluster = cluster;
        this.rights = new PodRights(reviews);
        this.patience = patience;
    }

    /**
     * Answers one.
     *
     * @throws ResponseStatusException with a sentence for the person who asks: 404 if there is no
     *     such pod, 422 if a new one cannot be read, 503 if this replica cannot say it now
     */
    public Explanation answer(ExplanationQuestion question) {
        if (!cluster.isKnown()) {
            throw notNow(String.valueOf(NotSeenException.early().getMessage()));
        }
        if (!free.tryAcquire()) {
            throw notNow(
                    "%d such questions are being answered; ask again in a few seconds"
                            .formatted(AT_ONCE));
        }
        var task = new FutureTask<>(() -> explained(question));
        // The place is free when the work has ended, and not when nobody waits for it any more.
        Thread.startVirtualThread(() -> {
            try {
                task.run();
            } finally {
                free.release();
            }
        });
        return result(task);
    }

    private Explanation result(FutureTask<Explanation> task) {
        try {
            return task.get(patience.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw notNow(
                    "It takes the scheduler longer than %d s to see why; ask again in a few seconds"
                            .formatted(patience.toSeconds()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw notNow("The scheduler is being stopped; ask again in a few seconds");
        } catch (ExecutionException e) {
            throw refusal(e.getCause());
        } finally {
            task.cancel(true);
        }
    }

    private static RuntimeException refusal(@Nullable Throwable cause) {
        return switch (cause) {
            case NotSeenException unseen -> notNow(String.valueOf(unseen.getMessage()));
            case NotReadException unread ->
                    new ResponseStatusException(
                            HttpStatus.UNPROCESSABLE_CONTENT,
                            "The pod cannot be read: " + unread.getMessage());
            case KubernetesClientException _ ->
                    notNow("The API server cannot be asked now; ask again in a few seconds");
            case RuntimeException other -> other;
            case null, default -> new IllegalStateException(cause);
        };
    }

    private static ResponseStatusException notNow(String why) {
        return new ResponseStatusException(HttpStatus.SERVICE_UNAVAILABLE, why);
    }

    private Explanation explained(ExplanationQuestion question) {
        var caller =
                new Caller(question.user(), question.uid(), question.groups(), question.extra());
        Predicate<String> shown = namespace -> rights.mayRead(caller, namespace);
        PodName pod = question.pod();
        return pod == null
                ? explanations.ofNewPod(
                        read(String.valueOf(question.newPod())), question.nodes(), shown)
                : explanations
                        .ofPod(pod.namespace(), pod.name(), question.nodes(), shown)
                        .orElseThrow(() ->
                                new ResponseStatusException(
                                        HttpStatus.NOT_FOUND,
                                        "There is no pod %s in %s"
                                                .formatted(pod.name(), pod.namespace())));
    }

    private static Pod read(String json) {
        try {
            Pod pod = PODS.unmarshal(json, Pod.class);
            if (pod.getMetadata() == null || pod.getSpec() == null) {
                throw new NotReadException("it has no metadata or no spec");
            }
            pod.setStatus(new PodStatus());
            return pod;
        } catch (IllegalArgumentException | KubernetesClientException e) {
            throw new NotReadException(String.valueOf(e.getMessage()));
        }
    }
}
