package io.gpusharing.web;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.fabric8.kubernetes.api.model.authentication.TokenReview;
import io.fabric8.kubernetes.api.model.authentication.TokenReviewBuilder;
import io.fabric8.kubernetes.api.model.authentication.TokenReviewStatus;
import io.fabric8.kubernetes.api.model.authorization.v1.NonResourceAttributes;
import io.fabric8.kubernetes.api.model.authorization.v1.ResourceAttributes;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReview;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReviewBuilder;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReviewSpec;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReviewSpecBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.kubernetes.ApiServerConnections;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Whose token a request carries, and what the cluster's RBAC allows them. The API server is asked,
 * and its answers are kept for ten seconds. So many tokens of which nothing is known are looked at
 * a second, and no more: whoever invents them would have us ask without end. Who asks is not kept
 * waiting for an API server that is away.
 */
public final class AccessReviews {

    private static final Duration KEPT = Duration.ofSeconds(10);
    private static final int MAX_CACHED = 10_000;
    private static final Duration PATIENCE = Duration.ofSeconds(3);

    private final KubernetesClient client;
    private final PerSecond tokens;
    private final List<String> audiences;
    private final Cache<String, Optional<Caller>> callers;
    private final Cache<SubjectAccessReviewSpec, Boolean> rights;

    /**
     * Reviews tokens that are good for the API server itself.
     *
     * @param tokensPerSecond how many unknown tokens the API server is asked about, at most
     */
    public AccessReviews(KubernetesClient client, Clock clock, int tokensPerSecond) {
        this(client, clock, tokensPerSecond, List.of());
    }

    /**
     * Reviews tokens that are good for one audience. A token of the API server's own is nobody's
     * here.
     *
     * @param tokensPerSecond how many unknown tokens the API server is asked about, at most
     */
    public AccessReviews(
            KubernetesClient client, Clock clock, int tokensPerSecond, String audience) {
        this(client, clock, tokensPerSecond, List.of(audience));
    }

    private AccessReviews(
            KubernetesClient client, Clock clock, int tokensPerSecond, List<String> audiences) {
        this.client = ApiServerConnections.prompt(client, PATIENCE);
        this.tokens = new PerSecond(tokensPerSecond, clock);
        this.audiences = audiences;
        this.callers = kept();
        this.rights = kept();
    }

    private static <Q, A> Cache<Q, A> kept() {
        return Caffeine.newBuilder().maximumSize(MAX_CACHED).expireAfterWrite(KEPT).build();
    }

    /** Too many tokens were shown of which nothing is known yet. */
    public static final class TooManyTokensException extends RuntimeException {
        TooManyTokensException() {
            super("Too many unknown tokens are shown at this moment; ask again in a few seconds");
        }
    }

    /**
     * Whose token it is; empty if it is nobody's.
     *
     * @throws TooManyTokensException if the API server is asked about others too often now
     * @throws KubernetesClientException if it does not answer
     */
    public Optional<Caller> caller(String token) {
        return ask(callers, token, this::review);
    }

    /**
     * Whether the cluster lets them do something.
     *
     * @throws KubernetesClientException if the API server does not answer
     */
    public boolean may(Caller caller, ResourceAttributes right) {
        return ask(rights, of(caller).withResourceAttributes(right).build(), this::allowed);
    }

    /**
     * Whether the cluster lets them do something with an address that is no object's, such as
     * {@code /metrics}.
     *
     * @throws KubernetesClientException if the API server does not answer
     */
    public boolean may(Caller caller, NonResourceAttributes right) {
        return ask(rights, of(caller).withNonResourceAttributes(right).build(), this::allowed);
    }

    private static SubjectAccessReviewSpecBuilder of(Caller caller) {
        return new SubjectAccessReviewSpecBuilder()
                .withUser(caller.name())
                .withUid(caller.uid())
                .withGroups(caller.groups())
                .withExtra(caller.extra());
    }

    /**
     * The kept answer, or the API server's. {@code Cache.get} would hold up questions of others
     * that happen to lie beside this one, for as long as the API server takes.
     */
    private static <Q, A> A ask(Cache<Q, A> kept, Q question, Function<Q, A> server) {
        A known = kept.getIfPresent(question);
        if (known != null) {
            return known;
        }
        A answer = server.apply(question);
        kept.put(question, answer);
        return answer;
    }

    private Optional<Caller> review(String token) {
        if (!tokens.mayBegin()) {
            throw new TooManyTokensException();
        }
        TokenReview review =
                client.resource(
                                new TokenReviewBuilder()
                                        .withNewSpec()
                                        .withToken(token)
                                        .withAudiences(audiences)
                                        .endSpec()
                                        .build())
                        .create();
        TokenReviewStatus status = review.getStatus();
        // An API server that knows no audiences says yes, and names none.
        return status != null
                        && Boolean.TRUE.equals(status.getAuthenticated())
                        && status.getAudiences().containsAll(audiences)
                ? Optional.of(Caller.of(status.getUser()))
                : Optional.empty();
    }

    private boolean allowed(SubjectAccessReviewSpec question) {
        SubjectAccessReview review =
                client.resource(new SubjectAccessReviewBuilder().withSpec(question).build())
                        .create();
        return review.getStatus() != null && Boolean.TRUE.equals(review.getStatus().getAllowed());
    }
}
