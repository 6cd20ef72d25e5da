package io.gpusharing.kubernetes;

import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An object that the API server stores and that we cannot read.
 *
 * @param kind as Kubernetes names it, for instance {@code Pod}
 * @param namespace empty for a cluster-scoped object
 * @param uid empty where the object has none, as in a test
 * @param why what is wrong with it, for people; at most {@value #MAX_WHY} characters
 */
public record Unreadable(String kind, String namespace, String name, String uid, String why) {

    /** An object may hold a megabyte, and its error quotes it. */
    private static final int MAX_WHY = 300;

    static Unreadable of(HasMetadata object, RuntimeException problem) {
        String why = Objects.requireNonNullElse(problem.getMessage(), problem.toString());
        return new Unreadable(
                object.getKind(),
                orEmpty(object.getMetadata().getNamespace()),
                object.getMetadata().getName(),
                orEmpty(object.getMetadata().getUid()),
                why.length() <= MAX_WHY ? why : why.substring(0, MAX_WHY) + "…");
    }

    private static String orEmpty(@Nullable String text) {
        return Objects.requireNonNullElse(text, "");
    }
}
