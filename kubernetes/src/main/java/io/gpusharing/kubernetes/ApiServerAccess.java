package io.gpusharing.kubernetes;

import static java.net.HttpURLConnection.HTTP_FORBIDDEN;
import static java.net.HttpURLConnection.HTTP_UNAUTHORIZED;

import io.fabric8.kubernetes.api.model.authorization.v1.ResourceAttributes;
import io.fabric8.kubernetes.api.model.authorization.v1.ResourceAttributesBuilder;
import io.fabric8.kubernetes.api.model.authorization.v1.SelfSubjectAccessReviewBuilder;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReviewStatus;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether the API server knows this service, and lets it do what it cannot work without. It is
 * asked, and not guessed from other answers: a watch goes on for minutes after its account was
 * deleted or has lost its rights, and a single request is refused for many reasons.
 *
 * <p>A token is void from the moment that its ServiceAccount is deleted, also if that is made anew,
 * until the kubelet writes the next one. The client reads the file again with each 401.
 *
 * <p>One thread looks; any thread may ask.
 */
public final class ApiServerAccess {

    private static final Logger log = LoggerFactory.getLogger(ApiServerAccess.class);

    /** An API server that has just started knows accounts and roles within seconds. */
    static final Duration BOUND = Duration.ofSeconds(45);

    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private static final String UNKNOWN =
            "the API server answers 401: it does not know the token of this pod, whose ServiceAccount was deleted, or deleted and made"
                    + " anew. The kubelet writes a new token within ten minutes; a new pod has one at once: make the ServiceAccount"
                    + " again if it is missing, and delete this pod";

    private final KubernetesClient client;
    private final List<ResourceAttributes> needed;
    private final Clock clock;
    private volatile @Nullable Refusal present;

    /** The reason that was logged; null while there is none. */
    private @Nullable String logged;

    private record Refusal(String reason, Instant since) {}

    /**
     * @param needed rights without which the service does not work
     */
    public ApiServerAccess(KubernetesClient client, List<ResourceAttributes> needed, Clock clock) {
        this.client = ApiServerConnections.prompt(client, PATIENCE);
        this.needed = List.copyOf(needed);
        this.clock = clock;
    }

    /**
     * The right to watch all objects of a kind.
     *
     * @param group empty for the kinds of the core
     */
    public static ResourceAttributes watching(String group, String plural) {
        return new ResourceAttributesBuilder()
                .withGroup(group)
                .withResource(plural)
                .withVerb("watch")
                .build();
    }

    /** Asks the API server. One that does not answer changes nothing. */
    public void look() {
        try {
            note(reason());
        } catch (KubernetesClientException e) {
            log.atDebug().addKeyValue("problem", e.getMessage()).log("no answer");
            if (logged == null) {
                // It may be about to end, or to start: what it said before counts no more.
                present = null;
            }
        }
    }

    /**
     * For how long the API server has refused this service; zero while it does not. What is shorter
     * than 45 seconds may be an API server that has just started.
     */
    public Duration refusedFor() {
        Refusal refusal = present;
        return refusal == null ? Duration.ZERO : Duration.between(refusal.since(), clock.instant());
    }

    /** Why the API server refuses this service, and the way out; empty up to 45 seconds. */
    public Optional<String> refusal() {
        Refusal refusal = present;
        return refusal == null || !isLong(refusal, clock.instant())
                ? Optional.empty()
                : Optional.of(refusal.reason());
    }

    private static boolean isLong(Refusal refusal, Instant now) {
        return Duration.between(refusal.since(), now).compareTo(BOUND) >= 0;
    }

    private void note(@Nullable String reason) {
        Instant now = clock.instant();
        Refusal before = present;
        if (reason == null) {
            present = null;
            if (logged != null) {
                logged = null;
                log.atInfo().log("the API server lets this service work again");
            }
            return;
        }
        var refusal = new Refusal(reason, before == null ? now : before.since());
        present = refusal;
        if (isLong(refusal, now) && !reason.equals(logged)) {
            logged = reason;
            log.atWarn()
                    .addKeyValue("since", refusal.since())
                    .addKeyValue("reason", reason)
                    .log("the API server refuses this service");
        }
    }

    /** Why it refuses us; null if it does not. */
    private @Nullable String reason() {
        try {
            String missing =
                    needed.stream()
                            .filter(right -> !may(right))
                            .map(right -> right.getVerb() + " " + right.getResource())
                            .collect(Collectors.joining(", "));
            return missing.isEmpty() ? null : mayNot(missing);
        } catch (KubernetesClientException e) {
            return switch (e.getCode()) {
                case HTTP_UNAUTHORIZED -> UNKNOWN;
                // It knows us. Some clusters let nobody ask what they may.
                case HTTP_FORBIDDEN -> null;
                default -> throw e;
            };
        }
    }

    private static String mayNot(String what) {
        return "the API server answers 403 where this pod wants to "
                + what
                + ": the ClusterRole of its ServiceAccount, or the binding of that, is missing or was changed; apply the manifests of"
                + " this version again";
    }

    /**
     * Whether we have a right.
     *
     * @throws KubernetesClientException if the API server does not say
     */
    private boolean may(ResourceAttributes right) {
        SubjectAccessReviewStatus status =
                client.resource(
                                new SelfSubjectAccessReviewBuilder()
                                        .withNewSpec()
                                        .withResourceAttributes(right)
                                        .endSpec()
                                        .build())
                        .create()
                        .getStatus();
        boolean allowed = status != null && Boolean.TRUE.equals(status.getAllowed());
        if (status == null || (!allowed && status.getEvaluationError() != null)) {
            throw new KubernetesClientException("The API server does not say what we may do");
        }
        return allowed;
    }
}
