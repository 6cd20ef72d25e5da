package io.gpusharing.timekeeper.aggregated;

import io.fabric8.kubernetes.api.model.authorization.v1.ResourceAttributes;
import io.fabric8.kubernetes.api.model.authorization.v1.ResourceAttributesBuilder;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What is asked of a resource, as the API server understands an address.
 *
 * @param verb {@code get}, {@code list}, {@code create}; of anything else the method in lower case
 * @param namespace null if the question is about the cluster
 * @param name null if it is about all
 */
record Question(
        String verb,
        String resource,
        @Nullable String subresource,
        @Nullable String namespace,
        @Nullable String name) {

    /** Reads the address of a request; empty if it is about no resource. */
    static Optional<Question> of(String method, String path) {
        if (!path.startsWith(Discovery.PATH + "/")) {
            return Optional.empty();
        }
        List<String> parts = List.of(path.substring(Discovery.PATH.length() + 1).split("/", -1));
        boolean namespaced = parts.size() > 2 && parts.getFirst().equals("namespaces");
        List<String> rest = namespaced ? parts.subList(2, parts.size()) : parts;
        String name = rest.size() > 1 ? rest.get(1) : null;
        return Optional.of(
                new Question(
                        verb(method, name),
                        rest.getFirst(),
                        rest.size() > 2 ? rest.get(2) : null,
                        namespaced ? parts.get(1) : null,
                        name));
    }

    private static String verb(String method, @Nullable String name) {
        return switch (method) {
            case "GET", "HEAD" -> name == null ? "list" : "get";
            case "POST" -> "create";
            case "PUT" -> "update";
            case "DELETE" -> name == null ? "deletecollection" : "delete";
            default -> method.toLowerCase(Locale.ROOT);
        };
    }

    /** The right that it takes. */
    ResourceAttributes right() {
        return new ResourceAttributesBuilder()
                .withGroup(Discovery.GROUP)
                .withVersion(Discovery.VERSION)
                .withResource(resource)
                .withSubresource(subresource)
                .withVerb(verb)
                .withNamespace(namespace)
                .withName(name)
                .build();
    }

    /** What whoever has not that right is told. */
    String forbidden(String user) {
        String what = subresource == null ? resource : resource + "/" + subresource;
        return "%s.%s%s is forbidden: User \"%s\" cannot %s resource \"%s\" in API group \"%s\" %s"
                .formatted(
                        what,
                        Discovery.GROUP,
                        name == null ? "" : " \"" + name + "\"",
                        user,
                        verb,
                        what,
                        Discovery.GROUP,
                        namespace == null
                                ? "at the cluster scope"
                                : "in the namespace \"" + namespace + "\"");
    }
}
