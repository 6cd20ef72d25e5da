package io.gpusharing.kubernetes;

import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An object that the API server stores and that we cannot read.
 *
 * @param apiVersion as Kubernetes names it, for instance {@code v1}
 * @param kind as Kubernetes names it, for instance {@code Pod}
 * @param namespace empty for a cluster-scoped object
 * @param uid empty where the object has none, as in a test
 * @param why what is wrong with it, for people; in short, and without control characters
 */
public record Unreadable(
        String apiVersion, String kind, String namespace, String name, String uid, String why) {

    /** An object may hold a megabyte, and its error quotes it. An Event takes 1,024 bytes. */
    private static final int MAX_WHY = 300;

    static Unreadable of(HasMetadata object, RuntimeException problem) {
        return new Unreadable(
                object.getApiVersion(),
                object.getKind(),
                orEmpty(object.getMetadata().getNamespace()),
                object.getMetadata().getName(),
                orEmpty(object.getMetadata().getUid()),
                inShort(Objects.requireNonNullElse(problem.getMessage(), problem.toString())));
    }

    /** A log line holds no line break, and a database neither character 0 nor half of a pair. */
    private static String inShort(String why) {
        return why.length() <= MAX_WHY
                ? printable(why)
                : printable(why.substring(0, MAX_WHY)) + "…";
    }

    private static String printable(String text) {
        return text.replaceAll("[\\p{Cc}\\p{Cs}]+", " ");
    }

    private static String orEmpty(@Nullable String text) {
        return Objects.requireNonNullElse(text, "");
    }
}
