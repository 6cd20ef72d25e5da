package io.gpusharing.e2e.poison;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpusharing.e2e.admission.Api;
import java.net.HttpURLConnection;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.BiFunction;

/**
 * An object that somebody has the API server store, and that a reader may stumble over.
 *
 * @param name what is odd about it
 * @param by who creates it
 * @param then what is done to it afterwards
 */
record Poison(String name, Author by, ObjectNode object, List<Change> then) {

    private static final Set<String> CLUSTER_SCOPED =
            Set.of(
                    "Node",
                    "Namespace",
                    "PriorityClass",
                    "ResourceSlice",
                    "DeviceClass",
                    "GpuBudget",
                    "GpuGrant",
                    "GpuCorrection",
                    "GpuNode",
                    "GpuReservation",
                    "GpuEviction");

    /** Who may do what. */
    enum Author {
        /** Has the role {@code admin} in its namespaces. */
        TENANT,
        /** Has every right in the same namespaces. */
        OWNER,
        /** Has every right everywhere, and makes mistakes. */
        ADMINISTRATOR,
        /** One of our own programs, which is of another version or was broken into. */
        PROGRAM;

        static Author of(String text) {
            return valueOf(text.toUpperCase(Locale.ROOT));
        }
    }

    /**
     * A later change.
     *
     * @param part which part of the object, for instance {@code status}
     */
    record Change(Author by, String part, ObjectNode body) {

        private Api.Answer apply(Api api, String path) {
            return switch (part) {
                case "binding" -> api.post(path + "/binding", body);
                case "ephemeralcontainers" -> api.patch(path + "/" + part, body);
                default -> replaceStatus(api, path);
            };
        }

        /** An object with a year of five digits takes no patch. */
        private Api.Answer replaceStatus(Api api, String path) {
            Api.Answer answer;
            do {
                ObjectNode current = api.get(path).orFail();
                ((ObjectNode) current.path("metadata")).remove("managedFields");
                current.withObject("/status").setAll((ObjectNode) body.path("status"));
                answer = api.replace(path + "/status", current);
                // The control plane changes it, too.
            } while (answer.code() == HttpURLConnection.HTTP_CONFLICT);
            return answer;
        }
    }

    /** Who did not let it in. */
    enum Outcome {
        STORED,
        REFUSED_BY_US,
        REFUSED_BY_KUBERNETES,
        /** Our webhook was asked and had no answer. */
        FAILED;

        private static Outcome of(Api.Answer answer) {
            if (answer.accepted()) {
                return STORED;
            }
            if (answer.message().contains("failed calling webhook")) {
                return FAILED;
            }
            return answer.message().contains("gpusharing") ? REFUSED_BY_US : REFUSED_BY_KUBERNETES;
        }
    }

    /**
     * Has it stored, and changed as far as it can be.
     *
     * @param apis the API server as each author sees it
     * @return what became of its creation, and then of each change
     */
    List<Outcome> store(BiFunction<Author, Poison, Api> apis) {
        var outcomes = new ArrayList<Outcome>();
        outcomes.add(Outcome.of(apis.apply(by, this).create(namespace(), object)));
        if (outcomes.getFirst() == Outcome.STORED) {
            for (Change change : then) {
                outcomes.add(Outcome.of(change.apply(apis.apply(change.by(), this), path())));
            }
        }
        return outcomes;
    }

    String objectName() {
        return object.at("/metadata/name").asText();
    }

    String kind() {
        return object.path("kind").asText();
    }

    /** Empty for what belongs to no namespace. */
    String namespace() {
        return CLUSTER_SCOPED.contains(kind()) ? "" : object.at("/metadata/namespace").asText();
    }

    /** Where it lies. */
    String path() {
        return Api.collection(namespace(), object.path("apiVersion").asText(), kind())
                + "/"
                + objectName();
    }

    /** Whether it costs the API server much. */
    boolean isLarge() {
        return object.toString().length() > 50_000;
    }

    static boolean isClusterScoped(String kind) {
        return CLUSTER_SCOPED.contains(kind);
    }

    @Override
    public String toString() {
        return "%s (%s)".formatted(name, kind());
    }
}
