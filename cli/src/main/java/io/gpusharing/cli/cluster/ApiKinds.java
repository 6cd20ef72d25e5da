package io.gpusharing.cli.cluster;

import static java.net.HttpURLConnection.HTTP_UNAUTHORIZED;
import static java.util.Objects.requireNonNullElse;
import static java.util.stream.Collectors.toSet;

import io.fabric8.kubernetes.client.http.HttpResponse;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Which kinds of objects in namespaces the API server lets users read. It is asked group by group,
 * as far as is needed; a group that does not answer has none.
 */
public final class ApiKinds {

    private static final JsonMapper JSON = new JsonMapper();

    private static final String CORE = "v1";

    /** Those that people mean most often: found without asking which groups there are. */
    private static final List<String> FIRST = List.of(CORE, "apps/v1", "batch/v1");

    /** What is possible with a kind of which there are objects; others take questions alone. */
    private static final Set<String> READ = Set.of("get", "list");

    private final Cluster cluster;
    private final Map<String, List<ApiKind>> known = new HashMap<>();

    public ApiKinds(Cluster cluster) {
        this.cluster = cluster;
    }

    /**
     * Finds what a person means, as kubectl does: by kind, plural, singular or short name, with the
     * group behind it if there is one, as in {@code jobs.batch.volcano.sh}.
     */
    public Optional<ApiKind> called(String text) {
        String all = text.toLowerCase(Locale.ROOT);
        int dot = all.indexOf('.');
        String word = dot < 0 ? all : all.substring(0, dot);
        Stream<String> versions =
                dot < 0
                        ? Stream.concat(FIRST.stream(), Stream.of(0).flatMap(_ -> preferred()))
                        : versions(all.substring(dot + 1));
        return versions.flatMap(it -> of(it).stream())
                .filter(it -> it.words().contains(word))
                .findFirst();
    }

    /**
     * Finds the kind that an owner reference names.
     *
     * @param apiVersion for instance {@code apps/v1}
     */
    public Optional<ApiKind> of(String apiVersion, String kind) {
        return of(apiVersion).stream().filter(it -> it.kind().equals(kind)).findFirst();
    }

    private Stream<String> preferred() {
        return groups().map(it -> it.at("/preferredVersion/groupVersion").asString(""));
    }

    /**
     * Versions of the groups that are meant.
     *
     * @param qualifier a group, or a version and a group: {@code v1.kubeflow.org}
     */
    private Stream<String> versions(String qualifier) {
        return groups().flatMap(group -> {
            String name = group.path("name").asString("");
            if (name.equals(qualifier)) {
                return Stream.of(group.at("/preferredVersion/groupVersion").asString(""));
            }
            return group.path("versions")
                    .valueStream()
                    .filter(it -> qualifier.equals(it.path("version").asString("") + "." + name))
                    .map(it -> it.path("groupVersion").asString(""));
        });
    }

    private Stream<JsonNode> groups() {
        return answer("/apis").path("groups").valueStream();
    }

    private List<ApiKind> of(String apiVersion) {
        List<ApiKind> kinds = known.get(apiVersion);
        if (kinds == null) {
            kinds = read(apiVersion);
            known.put(apiVersion, kinds);
        }
        return kinds;
    }

    private List<ApiKind> read(String apiVersion) {
        int slash = apiVersion.indexOf('/');
        String group = slash < 0 ? "" : apiVersion.substring(0, slash);
        String version = apiVersion.substring(slash + 1);
        return answer((slash < 0 ? "/api/" : "/apis/") + apiVersion)
                .path("resources")
                .valueStream()
                .filter(it -> it.path("namespaced").asBoolean(false))
                .filter(it -> !it.path("name").asString("/").contains("/"))
                .filter(it ->
                        it.path("verbs")
                                .valueStream()
                                .map(verb -> verb.asString(""))
                                .collect(toSet())
                                .containsAll(READ))
                .map(it ->
                        new ApiKind(
                                group,
                                version,
                                it.path("kind").asString(""),
                                it.path("name").asString(""),
                                words(it)))
                .toList();
    }

    private static List<String> words(JsonNode resource) {
        var words = new ArrayList<String>();
        for (String field : List.of("name", "singularName", "kind")) {
            words.add(resource.path(field).asString("").toLowerCase(Locale.ROOT));
        }
        resource.path("shortNames").forEach(it -> words.add(it.asString("")));
        return words;
    }

    private JsonNode answer(String path) {
        HttpResponse<String> response = cluster.sent("The API server", path, it -> it);
        if (response.code() == HTTP_UNAUTHORIZED) {
            throw cluster.notLoggedIn();
        }
        try {
            return JSON.readTree(
                    response.isSuccessful() ? requireNonNullElse(response.body(), "{}") : "{}");
        } catch (JacksonException e) {
            return JSON.createObjectNode();
        }
    }
}
