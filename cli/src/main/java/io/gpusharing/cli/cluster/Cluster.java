package io.gpusharing.cli.cluster;

import static java.net.HttpURLConnection.HTTP_CONFLICT;
import static java.net.HttpURLConnection.HTTP_FORBIDDEN;
import static java.net.HttpURLConnection.HTTP_NOT_FOUND;
import static java.net.HttpURLConnection.HTTP_UNAUTHORIZED;
import static java.net.HttpURLConnection.HTTP_UNAVAILABLE;
import static java.util.Objects.requireNonNullElse;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.http.HttpClient;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import io.gpusharing.cli.console.Failure;
import java.util.Locale;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * The API server, asked as the user that the kubeconfig names.
 *
 * @param namespace the one of the context
 * @param end of the connections, once nothing more is asked
 */
public record Cluster(KubernetesClient client, String namespace, Runnable end)
        implements AutoCloseable {

    /** An API server waits for a minute for whoever it passes questions on to. */
    private static final int PATIENCE_SECONDS = 15;

    /** What is written all at once takes longer; an API server waits no more than this. */
    private static final int PATIENCE_FOR_A_FILE_SECONDS = 60;

    /** RFC 9110, 15.5.21. */
    private static final int HTTP_UNPROCESSABLE = 422;

    private static final String TIMEKEEPER = "The timekeeper";

    private static final JsonMapper JSON = new JsonMapper();

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
        } catch (IllegalArgumentException e) {
            // The client refuses names that can be in no address.
            throw new Failure("Cannot %s %s: %s".formatted(verb, kind.plural, oneLine(e)));
        }
    }

    /**
     * Creates an object, or finds the one of its name that is there because an answer was lost.
     *
     * @throws Failure as {@link #ask} does
     */
    public <T extends HasMetadata> T createOnce(Kind kind, T object) {
        return ask("create", kind, it -> created(it, object));
    }

    private static <T extends HasMetadata> T created(KubernetesClient client, T object) {
        try {
            return client.resource(object).create();
        } catch (KubernetesClientException e) {
            if (e.getCode() != HTTP_CONFLICT) {
                throw e;
            }
            // It may have been deleted since; then this one is refused as it was.
            T there = client.resource(object).get();
            if (there == null) {
                throw e;
            }
            return there;
        }
    }

    /**
     * What is behind an address.
     *
     * @param link the header {@code Link}; empty if there is none
     */
    public record Answer(String body, String link) {}

    /**
     * Asks an API that the API server passes questions on to.
     *
     * @param path with its query
     * @param right what helps whoever may not ask
     * @throws Failure in the words of whoever refused it
     */
    public Answer get(String path, String right) {
        HttpResponse<String> response = sent(TIMEKEEPER, path, request -> request);
        if (response.isSuccessful()) {
            return new Answer(response.body(), requireNonNullElse(response.header("Link"), ""));
        }
        throw refused(response, right);
    }

    /**
     * Asks it for all at once, as CSV.
     *
     * @param path with its query
     * @param right what helps whoever may not ask
     * @throws Failure in the words of whoever refused it
     */
    public String csv(String path, String right) {
        HttpResponse<String> response =
                sent(
                        TIMEKEEPER,
                        path,
                        PATIENCE_FOR_A_FILE_SECONDS,
                        request -> request.setHeader("Accept", "text/csv, application/json;q=0.5"));
        if (response.isSuccessful()) {
            return requireNonNullElse(response.body(), "");
        }
        throw refused(response, right);
    }

    /**
     * Asks it something that takes an object to ask.
     *
     * @param object JSON
     * @param right what helps whoever may not ask
     * @throws Failure in the words of whoever refused it
     */
    public String post(String path, String object, String right) {
        HttpResponse<String> response =
                sent(TIMEKEEPER, path, request -> request.post("application/json", object));
        if (response.isSuccessful()) {
            return requireNonNullElse(response.body(), "");
        }
        throw refused(response, right);
    }

    /**
     * Asks an address once.
     *
     * @param who answers there, for instance {@code The API server}
     * @param made of the request that gets the address
     * @throws Failure if nobody answers
     */
    HttpResponse<String> sent(String who, String path, UnaryOperator<HttpRequest.Builder> made) {
        return sent(who, path, PATIENCE_SECONDS, made);
    }

    private HttpResponse<String> sent(
            String who, String path, int seconds, UnaryOperator<HttpRequest.Builder> made) {
        HttpClient http = client.getHttpClient();
        try {
            return http.sendAsync(
                            made.apply(
                                            http.newHttpRequestBuilder()
                                                    .uri(url() + path)
                                                    .header("Accept", "application/json"))
                                    .build(),
                            String.class)
                    // Of the client itself each attempt would have so long.
                    .orTimeout(seconds, TimeUnit.SECONDS)
                    .join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof TimeoutException
                    ? new NotAnswered("%s has not answered for %d s".formatted(who, seconds))
                    : unreached(e);
        }
    }

    private Failure refused(HttpResponse<String> response, String right) {
        String said = said(response.body());
        return switch (response.code()) {
            case HTTP_UNAUTHORIZED -> notLoggedIn();
            case HTTP_FORBIDDEN ->
                    new NotAllowed(
                            "%s; %s. Where usage.gpusharing.io is off, an administrator turns it on with api.aggregated: true"
                                    .formatted(said, right));
            // Only whoever knows the address says which object there is none of.
            case HTTP_NOT_FOUND ->
                    said.isEmpty()
                            ? new NotInstalled(
                                    "The API server %s has no usage.gpusharing.io; an administrator turns it on with api.aggregated: true"
                                            .formatted(url()))
                            : new Failure(said);
            // The API server itself says it in no words of ours.
            case HTTP_UNAVAILABLE ->
                    new NotAnswered(
                            said.isEmpty()
                                    ? "The timekeeper does not answer now; kubectl gpusharing budgets works without it"
                                    : said);
            case HTTP_UNPROCESSABLE -> new Failure(said);
            default ->
                    new Failure(
                            "The API server %s answered %d: %s"
                                    .formatted(url(), response.code(), said));
        };
    }

    /** The message of a {@code Status}, and nothing of anything else. */
    static String said(@Nullable String body) {
        try {
            return JSON.readTree(requireNonNullElse(body, "")).path("message").asString("");
        } catch (JacksonException e) {
            return "";
        }
    }

    Failure notLoggedIn() {
        return new Failure(
                "The API server %s does not accept your login; log in again, or name another context with --context"
                        .formatted(url()));
    }

    private Failure failure(String verb, Kind kind, KubernetesClientException e) {
        return switch (e.getCode()) {
            case HTTP_UNAUTHORIZED -> notLoggedIn();
            case HTTP_FORBIDDEN ->
                    new NotAllowed(
                            "You may not %s %s; %s".formatted(verb, kind.plural, kind.right));
            case HTTP_NOT_FOUND ->
                    new NotInstalled(
                            "The API server %s knows no %s; %s"
                                    .formatted(url(), kind.plural, kind.absence));
            default -> e.getCode() > 0 ? new Failure(refused(verb, kind, e)) : unreached(e);
        };
    }

    private String refused(String verb, Kind kind, KubernetesClientException e) {
        return "The API server %s answered %d to %s %s: %s"
                .formatted(url(), e.getCode(), verb, kind.plural, oneLine(e));
    }

    /** The client wraps what the network says. */
    private Failure unreached(Throwable e) {
        Throwable last = e;
        while (last.getCause() != null) {
            last = last.getCause();
        }
        return new Failure(
                "Cannot reach the API server %s (%s); is it the right context?"
                        .formatted(url(), last.getMessage() == null ? words(last) : oneLine(last)));
    }

    /** What the class of an exception says, in words: {@code closed channel}. */
    private static String words(Throwable e) {
        return e.getClass()
                .getSimpleName()
                .replaceAll("(Exception|Error)$", "")
                .replaceAll("(?<=[a-z])(?=[A-Z])", " ")
                .toLowerCase(Locale.ROOT);
    }

    public String url() {
        return client.getMasterUrl().toString().replaceFirst("/$", "");
    }

    private static String oneLine(Throwable e) {
        return requireNonNullElse(e.getMessage(), "").strip().replaceAll("\\s+", " ");
    }

    @Override
    public void close() {
        client.close();
        end.run();
    }
}
