package io.gpusharing.cli.cluster;

import static java.net.HttpURLConnection.HTTP_FORBIDDEN;
import static java.net.HttpURLConnection.HTTP_NOT_FOUND;
import static java.net.HttpURLConnection.HTTP_UNAUTHORIZED;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.cli.console.Failure;
import java.util.Objects;
import java.util.function.Function;

/**
 * The API server, asked as the user that the kubeconfig names.
 *
 * @param namespace the one of the context
 */
public record Cluster(KubernetesClient client, String namespace) implements AutoCloseable {

    /**
     * An answer of the API server.
     *
     * @param verb what is done, for instance {@code list}
     * @throws Failure a sentence for the user, if there is no answer; {@link NotAllowed} and {@link
     *     NotInstalled} where a command may go on without
     */
    public <A> A ask(String verb, Kind kind, Function<KubernetesClient, A> question) {
        try {
            return question.apply(client);
        } catch (KubernetesClientException e) {
            throw failure(verb, kind, e);
        }
    }

    private Failure failure(String verb, Kind kind, KubernetesClientException e) {
        return switch (e.getCode()) {
            case HTTP_UNAUTHORIZED ->
                    new Failure(
                            "The API server %s does not accept your login; log in again, or name another context with --context"
                                    .formatted(url()));
            case HTTP_FORBIDDEN ->
                    new NotAllowed(
                            "You may not %s %s; %s".formatted(verb, kind.plural, kind.right));
            case HTTP_NOT_FOUND ->
                    new NotInstalled(
                            "The API server %s knows no %s; %s"
                                    .formatted(url(), kind.plural, kind.absence));
            default -> new Failure(e.getCode() > 0 ? refused(verb, kind, e) : unreached(e));
        };
    }

    private String refused(String verb, Kind kind, KubernetesClientException e) {
        return "The API server %s answered %d to %s %s: %s"
                .formatted(url(), e.getCode(), verb, kind.plural, oneLine(e));
    }

    /** The client wraps what the network says. */
    private String unreached(KubernetesClientException e) {
        Throwable last = e;
        while (last.getCause() != null) {
            last = last.getCause();
        }
        return "Cannot reach the API server %s (%s); is it the right context?"
                .formatted(
                        url(),
                        last.getMessage() == null
                                ? last.getClass().getSimpleName()
                                : oneLine(last));
    }

    private String url() {
        return client.getMasterUrl().toString().replaceFirst("/$", "");
    }

    private static String oneLine(Throwable e) {
        return Objects.requireNonNullElse(e.getMessage(), "").strip().replaceAll("\\s+", " ");
    }

    @Override
    public void close() {
        client.close();
    }
}
