package io.gpusharing.web;

import io.fabric8.kubernetes.api.model.authorization.v1.ResourceAttributes;
import io.fabric8.kubernetes.api.model.authorization.v1.ResourceAttributesBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import org.jspecify.annotations.Nullable;

/** Whose pods somebody may see and make: the same in each service that names pods in an answer. */
public final class PodRights {

    /** Administrators of budgets see all pods that are charged. */
    private static final ResourceAttributes UPDATE_BUDGETS =
            new ResourceAttributesBuilder()
                    .withGroup("gpusharing.io")
                    .withResource("gpubudgets")
                    .withVerb("update")
                    .build();

    private final AccessReviews reviews;

    public PodRights(AccessReviews reviews) {
        this.reviews = reviews;
    }

    /**
     * Whether they may see the pods of a namespace: there, or everywhere as an administrator.
     *
     * @throws KubernetesClientException if the API server does not answer
     */
    public boolean mayRead(Caller caller, String namespace) {
        return reviews.may(caller, UPDATE_BUDGETS) || mayGet(caller, namespace);
    }

    /**
     * Whether they may get the pods of a namespace. Administrators of budgets need that right as
     * everybody does.
     *
     * @param namespace null for all
     * @throws KubernetesClientException if the API server does not answer
     */
    public boolean mayGet(Caller caller, @Nullable String namespace) {
        return reviews.may(caller, pods("get", namespace));
    }

    /**
     * Whether they may create pods in a namespace, or may everything as an administrator.
     *
     * @throws KubernetesClientException if the API server does not answer
     */
    public boolean mayCreate(Caller caller, String namespace) {
        return reviews.may(caller, UPDATE_BUDGETS)
                || reviews.may(caller, pods("create", namespace));
    }

    private static ResourceAttributes pods(String verb, @Nullable String namespace) {
        return new ResourceAttributesBuilder()
                .withGroup("")
                .withResource("pods")
                .withVerb(verb)
                .withNamespace(namespace)
                .build();
    }
}
