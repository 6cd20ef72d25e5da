package io.gpusharing.timekeeper.aggregated;

import io.fabric8.kubernetes.api.model.authorization.v1.ResourceAttributes;
import io.fabric8.kubernetes.api.model.authorization.v1.ResourceAttributesBuilder;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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

    /** A list of one object by its name takes the right to list that one. */
    private static final Pattern ONE_NAME = Pattern.compile("metadata\\.name==?([^,]+)");

    /**
     * Reads the address of a request; empty if it is about no resource.
     *
     * @param fields the parameter {@code fieldSelector}
     */
    static Optional<Question> of(String method, String path, @Nullable String fields) {
        if (!path.startsWith(Discovery.PATH + "/")) {
            return Optional.empty();
        }
        List<String> parts = List.of(path.substring(Discovery.PATH.length() + 1).split("/", -1));
        boolean namespaced = parts.size() > 2 && parts.getFirst().equals("namespaces");
        List<String> rest = namespaced ? parts.subList(2, parts.size()) : parts;
        String named = rest.size() > 1 ? rest.get(1) : null;
        return Optional.of(
                new Question(
                        verb(method, named),
                        rest.getFirst(),
                        rest.size() > 2 ? rest.get(2) : null,
                        namespaced ? parts.get(1) : null,
                        named == null ? selected(fields) : named));
    }

    private static @Nullable String selected(@Nullable String fields) {
        Matcher name = ONE_NAME.matcher(fields == null ? "" : fields);
        return name.matches() ? name.group(1) : null;
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

    /** The rights of which any is enough, the one that answers most questions first. */
    List<ResourceAttributes> rights() {
        return name == null ? List.of(right(null)) : List.of(right(null), right(name));
    }

    private ResourceAttributes right(@Nullable String name) {
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
