package io.gpusharing.timekeeper.api;

import io.fabric8.kubernetes.api.model.authentication.TokenReview;
import io.fabric8.kubernetes.api.model.authentication.TokenReviewBuilder;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReview;
import io.fabric8.kubernetes.api.model.authorization.v1.SubjectAccessReviewBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * Who asks, and what the cluster's own RBAC lets them see. The API server's answers are kept for a
 * few seconds.
 */
@Component
class Callers {

    private static final Duration KEPT = Duration.ofSeconds(10);
    private static final int MOST = 10_000;

    private final KubernetesClient client;
    private final Clock clock;
    private final Map<Object, Answer> answers = new ConcurrentHashMap<>();

    Callers(KubernetesClient client, Clock clock) {
        this.client = client;
        this.clock = clock;
    }

    /** A user as the API server knows him. */
    record Caller(String name, List<String> groups) {}

    private record Answer(@Nullable Object value, Instant until) {}

    /** A right: a verb on a kind of object, in a namespace, on a certain one. */
    private record Right(
            String verb,
            String group,
            String resource,
            @Nullable String namespace,
            @Nullable String name) {

        static Right onBudgets(String verb, @Nullable String budget) {
            return new Right(verb, "gpusharing.io", "gpubudgets", null, budget);
        }
    }

    private record Question(Caller caller, Right right) {}

    /** Whose token it is; empty if it is nobody's. */
    Optional<Caller> caller(String token) {
        return Optional.ofNullable((Caller) kept(token, () -> review(token)));
    }

    /**
     * Whether he may see budgets.
     *
     * @param budget a certain one; null for all of them
     */
    boolean mayRead(Caller caller, @Nullable String budget) {
        return may(caller, Right.onBudgets(budget == null ? "list" : "get", budget));
    }

    /** Whether he may see the pods of a namespace: there, or everywhere as an administrator. */
    boolean mayReadPods(Caller caller, String namespace) {
        return may(caller, new Right("get", "", "pods", namespace, null))
                || mayChange(caller, null);
    }

    /**
     * Whether he may grant time to a budget and correct what it was charged.
     *
     * @param budget a certain one; null for all of them
     */
    boolean mayChange(Caller caller, @Nullable String budget) {
        return may(caller, Right.onBudgets("update", budget));
    }

    private boolean may(Caller caller, Right right) {
        Object allowed = kept(new Question(caller, right), () -> allowed(caller, right));
        return Boolean.TRUE.equals(allowed);
    }

    private @Nullable Object kept(Object question, Supplier<@Nullable Object> ask) {
        Instant now = clock.instant();
        Answer known = answers.get(question);
        if (known != null && now.isBefore(known.until())) {
            return known.value();
        }
        if (answers.size() > MOST) {
            answers.clear();
        }
        Answer fresh = new Answer(ask.get(), now.plus(KEPT));
        answers.put(question, fresh);
        return fresh.value();
    }

    private @Nullable Caller review(String token) {
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
                ? new Caller(
                        review.getStatus().getUser().getUsername(),
                        List.copyOf(review.getStatus().getUser().getGroups()))
                : null;
    }

    private boolean allowed(Caller caller, Right right) {
        SubjectAccessReview review =
                client.resource(
                                new SubjectAccessReviewBuilder()
                                        .withNewSpec()
                                        .withUser(caller.name())
                                        .withGroups(caller.groups())
                                        .withNewResourceAttributes()
                                        .withGroup(right.group())
                                        .withResource(right.resource())
                                        .withVerb(right.verb())
                                        .withNamespace(right.namespace())
                                        .withName(right.name())
                                        .endResourceAttributes()
                                        .endSpec()
                                        .build())
                        .create();
        return review.getStatus() != null && Boolean.TRUE.equals(review.getStatus().getAllowed());
    }
}
