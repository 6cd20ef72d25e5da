package io.gpusharing.timekeeper.web;

import io.fabric8.kubernetes.api.model.authorization.v1.NonResourceAttributes;
import io.fabric8.kubernetes.api.model.authorization.v1.ResourceAttributes;
import io.fabric8.kubernetes.api.model.authorization.v1.ResourceAttributesBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.web.AccessReviews;
import io.gpusharing.web.Caller;
import io.gpusharing.web.PodRights;
import java.time.Clock;
import java.util.Collection;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.security.core.Authentication;
import org.springframework.stereotype.Component;

/** Who sends a request, and what the cluster's RBAC allows them. */
@Component
public class Callers {

    /** People and their programs ask, and each token once in ten seconds. */
    private static final int TOKENS_PER_SECOND = 100;

    private final AccessReviews reviews;
    private final PodRights pods;

    Callers(KubernetesClient client, Clock clock) {
        this.reviews = new AccessReviews(client, clock, TOKENS_PER_SECOND);
        this.pods = new PodRights(reviews);
    }

    /** Whoever sent a request that {@link ApiSecurity} has let in. */
    public static Caller of(Authentication who) {
        return (Caller) Objects.requireNonNull(who.getPrincipal());
    }

    /** Whose token it is; empty if it is nobody's. */
    Optional<Caller> caller(String token) {
        return reviews.caller(token);
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
        return pods.mayRead(caller, namespace);
    }

    /**
     * Whether they may get the pods of a namespace. Administrators of budgets need that right as
     * everybody does.
     *
     * @param namespace null for all
     */
    public boolean mayGetPods(Caller caller, @Nullable String namespace) {
        return pods.mayGet(caller, namespace);
    }

    /** Whether they may create pods in a namespace, or may everything as an administrator. */
    public boolean mayCreatePods(Caller caller, String namespace) {
        return pods.mayCreate(caller, namespace);
    }

    /** Those of the namespaces whose pods he may see. */
    public Set<String> podsShown(Caller caller, Collection<String> namespaces) {
        return namespaces.stream()
                .distinct()
                .filter(namespace -> mayReadPods(caller, namespace))
                .collect(Collectors.toUnmodifiableSet());
    }

    /**
     * Whether they may grant time to a budget.
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

    /** Whether they may read metrics that name budgets and namespaces. */
    boolean mayReadMetrics(Caller caller) {
        return reviews.may(caller, new NonResourceAttributes("/metrics", "get"));
    }

    /** Whether the cluster lets them do something. */
    public boolean may(Caller caller, ResourceAttributes right) {
        return reviews.may(caller, right);
    }
}
