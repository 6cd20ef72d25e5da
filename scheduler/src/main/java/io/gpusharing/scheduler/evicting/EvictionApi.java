package io.gpusharing.scheduler.evicting;

import io.fabric8.kubernetes.api.model.DeleteOptions;
import io.fabric8.kubernetes.api.model.DeleteOptionsBuilder;
import io.fabric8.kubernetes.api.model.ObjectReference;
import io.fabric8.kubernetes.api.model.policy.v1.Eviction;
import io.fabric8.kubernetes.api.model.policy.v1.EvictionBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.scheduler.cluster.PromptClient;
import java.net.HttpURLConnection;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Kubernetes' Eviction API, which honours PodDisruptionBudgets, and what its answers mean. A pod is
 * meant by its UID: another one of the same name is left alone.
 */
final class EvictionApi {

    /** Webhooks of others are asked, too. */
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private static final int UNPROCESSABLE = 422;
    private static final int TOO_MANY_REQUESTS = 429;

    private final KubernetesClient client;

    /** What became of a request. */
    enum Result {
        /** The pod ends. */
        Ended,
        /** The API server does not let it go, for instance because of a PodDisruptionBudget. */
        Refused,
        /** It was not there any more. */
        Gone
    }

    /**
     * What the API server said.
     *
     * @param detail in its own words; may be empty
     */
    record Answer(Result result, String detail) {}

    EvictionApi(KubernetesClient client) {
        // By itself the client asks again for 20 s after a 429; a PodDisruptionBudget's no is an
        // answer.
        this.client = PromptClient.of(client, PATIENCE);
    }

    /**
     * Evicts a pod.
     *
     * @param pod with its UID
     * @param grace instead of the pod's own; null for that
     * @param dryRun whether nothing is to happen
     * @throws KubernetesClientException if that is no answer, or the API server is away
     */
    Answer evict(ObjectReference pod, @Nullable Duration grace, boolean dryRun) {
        Eviction eviction =
                new EvictionBuilder()
                        .withNewMetadata()
                        .withNamespace(pod.getNamespace())
                        .withName(pod.getName())
                        .endMetadata()
                        .withDeleteOptions(options(pod, grace, dryRun))
                        .build();
        try {
            boolean done =
                    client.pods()
                            .inNamespace(pod.getNamespace())
                            .withName(pod.getName())
                            .evict(eviction);
            return done
                    ? new Answer(Result.Ended, "")
                    : new Answer(Result.Refused, "a PodDisruptionBudget does not let it go now");
        } catch (KubernetesClientException e) {
            return refused(e);
        }
    }

    /**
     * Deletes a pod, past every PodDisruptionBudget.
     *
     * @param pod with its UID
     * @param grace instead of the pod's own; null for that
     * @throws KubernetesClientException if that is no answer, or the API server is away
     */
    Answer delete(ObjectReference pod, @Nullable Duration grace) {
        try {
            client.raw(
                    "/api/v1/namespaces/%s/pods/%s".formatted(pod.getNamespace(), pod.getName()),
                    "DELETE",
                    options(pod, grace, false));
            return new Answer(Result.Ended, "");
        } catch (KubernetesClientException e) {
            return refused(e);
        }
    }

    private static DeleteOptions options(
            ObjectReference pod, @Nullable Duration grace, boolean dryRun) {
        var options =
                new DeleteOptionsBuilder()
                        .withApiVersion("v1")
                        .withKind("DeleteOptions")
                        .withNewPreconditions()
                        .withUid(pod.getUid())
                        .endPreconditions();
        if (grace != null) {
            options.withGracePeriodSeconds(grace.toSeconds());
        }
        if (dryRun) {
            options.withDryRun("All");
        }
        return options.build();
    }

    private static Answer refused(KubernetesClientException e) {
        String message = said(e);
        return switch (e.getCode()) {
            // 409: the precondition failed, the pod of that name is another one.
            case HttpURLConnection.HTTP_NOT_FOUND, HttpURLConnection.HTTP_CONFLICT ->
                    new Answer(Result.Gone, "it was gone already");
            // 422: an eviction begins with a condition, and what somebody has written on the pod is
            // not valid, so that nothing can be written on it.
            case TOO_MANY_REQUESTS, HttpURLConnection.HTTP_FORBIDDEN, UNPROCESSABLE ->
                    new Answer(Result.Refused, message);
            // Its way to say that several PodDisruptionBudgets select the pod, and etcd's that the
            // pod is as large as it can be.
            case HttpURLConnection.HTTP_INTERNAL_ERROR -> {
                if (!message.contains("PodDisruptionBudget")
                        && !message.contains("request is too large")) {
                    throw e;
                }
                yield new Answer(Result.Refused, message);
            }
            default -> throw e;
        };
    }

    /** The API server's own words, without those of the client around them. */
    private static String said(KubernetesClientException e) {
        String own = e.getStatus() == null ? null : e.getStatus().getMessage();
        return String.valueOf(own == null ? e.getMessage() : own);
    }
}
