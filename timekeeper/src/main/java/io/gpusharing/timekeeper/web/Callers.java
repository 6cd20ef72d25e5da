package io.gpusharing.timekeeper.web;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.fabric8.kubernetes.api.model.authentication.TokenReview;
import io.fabric8.kubernetes.api.model.authentication.TokenReviewBuilder;
import io.fabric8.kubernetes.api.model.authentication.UserInfo;
import io.fabric8.kubernetes.api.model.authorization.v1.ResourceAttributes;
import io.fabric8.kubernetes.api.model.authorization.v1.ResourceAttributesBuilder;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReview;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReviewBuilder;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReviewSpec;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReviewSpecBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Clock;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.security.core.Authentication;
import org.springframework.stereotype.Component;

/**
 * Who sends a request, and what the cluster's RBAC allows them. The API server's answers are kept
 * for a few seconds.
 */
@Component
public class Callers {

    private static final Duration KEPT = Duration.ofSeconds(10);
    private static final int MAX_CACHED = 10_000;

    private final KubernetesClient client;
    private final Cache<String, Optional<Caller>> callers;
    private final Cache<SubjectAccessReviewSpec, Boolean> rights;

    Callers(KubernetesClient client, Clock clock) {
        this.client = client;
        this.callers = kept(clock);
        this.rights = kept(clock);
    }

    private static <Q, A> Cache<Q, A> kept(Clock clock) {
        return Caffeine.newBuilder()
                .maximumSize(MAX_CACHED)
                .expireAfterWrite(KEPT)
                .ticker(() -> TimeUnit.MILLISECONDS.toNanos(clock.millis()))
                .build();
    }

    /**
     * A user as the API server knows them.
     *
     * @param extra what else their token says, and authorizers go by: that it is for certain things
     *     alone, for instance (OpenShift's {@code scopes.authorization.openshift.io})
     */
    public record Caller(
            String name, String uid, List<String> groups, Map<String, List<String>> extra) {

        public static Caller of(UserInfo user) {
            return new Caller(
                    user.getUsername(),
                    Objects.requireNonNullElse(user.getUid(), ""),
                    List.copyOf(user.getGroups()),
                    Map.copyOf(user.getExtra()));
        }

        /** Whoever sent a request that {@link ApiSecurity} has let in. */
        public static Caller of(Authentication who) {
            return (Caller) Objects.requireNonNull(who.getPrincipal());
        }
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

    /** Whose token it is; empty if it is nobody's. */
    Optional<Caller> caller(String token) {
        return ask(callers, token, this::review);
    }

    /**
     * Whether they may see budgets.
     *
     * @param budget a certain one; null for all of them
     */
    boolean mayRead(Caller caller, @Nullable String budget) {
        return mayDoWithBudgets(caller, budget == null ? "list" : "get", budget);
    }

    /** Whether they may see the pods of a namespace: there, or everywhere as an administrator. */
    public boolean mayReadPods(Caller caller, String namespace) {
        return mayChange(caller, null)
                || may(
                        caller,
                        new ResourceAttributesBuilder()
                                .withGroup("")
                                .withResource("pods")
                                .withVerb("get")
                                .withNamespace(namespace)
                                .build());
    }

    /** Those of the namespaces whose pods he may see. */
    public Set<String> podsShown(Caller caller, Collection<String> namespaces) {
        return namespaces.stream()
                .distinct()
                .filter(namespace -> mayReadPods(caller, namespace))
                .collect(Collectors.toUnmodifiableSet());
    }

    /**
     * Whether they may grant time to a budget and correct what it was charged.
     *
     * @param budget a certain one; null for all of them
     */
    boolean mayChange(Caller caller, @Nullable String budget) {
        return mayDoWithBudgets(caller, "update", budget);
    }

    private boolean mayDoWithBudgets(Caller caller, String verb, @Nullable String budget) {
        return may(
                caller,
                new ResourceAttributesBuilder()
                        .withGroup("gpusharing.io")
                        .withResource("gpubudgets")
                        .withVerb(verb)
                        .withName(budget)
                        .build());
    }

    private boolean may(Caller caller, ResourceAttributes right) {
        return ask(
                rights,
                new SubjectAccessReviewSpecBuilder()
                        .withUser(caller.name())
                        .withUid(caller.uid())
                        .withGroups(caller.groups())
                        .withExtra(caller.extra())
                        .withResourceAttributes(right)
                        .build(),
                this::allowed);
    }

    private Optional<Caller> review(String token) {
        TokenReview review =
                client.resource(
                                new TokenReviewBuilder()
                                        .withNewSpec()
                                        .withToken(token)
                                        .endSpec()
                                        .build())
                        .create();
        return review.getStatus() != null
                        && Boolean.TRUE.equals(review.getStatus().getAuthenticated())
                ? Optional.of(Caller.of(review.getStatus().getUser()))
                : Optional.empty();
    }

    private boolean allowed(SubjectAccessReviewSpec question) {
        SubjectAccessReview review =
                client.resource(new SubjectAccessReviewBuilder().withSpec(question).build())
                        .create();
        return review.getStatus() != null && Boolean.TRUE.equals(review.getStatus().getAllowed());
    }
}
