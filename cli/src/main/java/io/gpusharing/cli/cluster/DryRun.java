package io.gpusharing.cli.cluster;

import static java.net.HttpURLConnection.HTTP_FORBIDDEN;
import static java.net.HttpURLConnection.HTTP_INTERNAL_ERROR;
import static java.net.HttpURLConnection.HTTP_UNAUTHORIZED;

import io.fabric8.kubernetes.client.http.HttpResponse;
import io.gpusharing.cli.console.Failure;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Creates pods as {@code kubectl create --dry-run=server} does: defaults, quotas and admission are
 * the real ones, and nothing is stored.
 */
public final class DryRun {

    private static final JsonMapper JSON = new JsonMapper();

    private static final String SERVER = "The API server";

    /** RFC 9111, 5.5, as the API server writes it: {@code 299 - "text"}. */
    private static final Pattern WARNING =
            Pattern.compile("\\d{3} \\S+ \"((?:[^\"\\\\]|\\\\.)*)\"");

    /** What the API server says where roles alone stand against it; a quota says it in others. */
    private static final String NO_ROLE = "cannot create resource \"pods\"";

    private DryRun() {}

    /**
     * A pod as the API server would store it.
     *
     * @param warnings what it tells the author besides
     */
    public record Admitted(JsonNode pod, List<String> warnings) {}

    /**
     * Creates a pod.
     *
     * @return empty if the user has no right to create pods there
     * @throws Failure in the words of whoever refused it: an admission webhook, a quota, or the API
     *     server itself
     */
    public static Optional<Admitted> create(Cluster cluster, String namespace, ObjectNode pod) {
        HttpResponse<String> response =
                cluster.sent(
                        SERVER,
                        "/api/v1/namespaces/%s/pods?dryRun=All&fieldValidation=Strict&fieldManager=kubectl-gpusharing"
                                .formatted(URLEncoder.encode(namespace, StandardCharsets.UTF_8)),
                        request -> request.post("application/json", pod.toString()));
        if (response.isSuccessful()) {
            return Optional.of(new Admitted(read(response.body()), warnings(response)));
        }
        String said = Cluster.said(response.body());
        if (response.code() == HTTP_FORBIDDEN && !mayCreatePods(cluster, namespace, said)) {
            return Optional.empty();
        }
        throw response.code() == HTTP_UNAUTHORIZED
                ? cluster.notLoggedIn()
                : new Failure(
                        said.isEmpty() || response.code() >= HTTP_INTERNAL_ERROR
                                ? "%s %s answered %d to create pods: %s"
                                        .formatted(SERVER, cluster.url(), response.code(), said)
                                : said);
    }

    /** Quotas and webhooks answer with the same code as missing roles. */
    private static boolean mayCreatePods(Cluster cluster, String namespace, String said) {
        HttpResponse<String> review =
                cluster.sent(
                        SERVER,
                        "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                        request ->
                                request.post(
                                        "application/json",
                                        JSON.writeValueAsString(review(namespace))));
        return review.isSuccessful()
                ? read(review.body()).at("/status/allowed").asBoolean(false)
                : !said.contains(NO_ROLE);
    }

    private static Map<String, Object> review(String namespace) {
        return Map.of(
                "apiVersion",
                "authorization.k8s.io/v1",
                "kind",
                "SelfSubjectAccessReview",
                "spec",
                Map.of(
                        "resourceAttributes",
                        Map.of("namespace", namespace, "verb", "create", "resource", "pods")));
    }

    private static JsonNode read(String body) {
        try {
            return JSON.readTree(body);
        } catch (JacksonException e) {
            throw new Failure("The API server's answer cannot be read: " + e.getOriginalMessage());
        }
    }

    private static List<String> warnings(HttpResponse<String> response) {
        return response.headers("Warning").stream()
                .flatMap(header -> WARNING.matcher(header).results())
                .map((MatchResult it) -> it.group(1).replaceAll("\\\\(.)", "$1"))
                .toList();
    }
}
