package io.gpusharing.kubernetes;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ListMeta;
import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import io.fabric8.kubernetes.client.utils.URLUtils.URLBuilder;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DatabindException;

/**
 * A list of objects of all namespaces, read one object after the other while the answer comes in.
 * Whoever may make pods may make hundreds of a megabyte and a half, and the client's own lists have
 * an answer in memory as a whole before they read it.
 *
 * @param <T> kind of the objects
 */
public final class StreamedList<T extends HasMetadata> {

    private static final Logger log = LoggerFactory.getLogger(StreamedList.class);

    /** Objects to an answer: what the API server has in memory for it. */
    private static final int PAGE = 250;

    private final KubernetesClient client;
    private final ApiServerSerialization serialization;
    private final Class<T> kind;
    private final Map<String, String> query;
    private final Duration patience;

    private StreamedList(
            KubernetesClient client,
            ApiServerSerialization serialization,
            Class<T> kind,
            Map<String, String> query,
            Duration patience) {
        this.client = client;
        this.serialization = serialization;
        this.kind = kind;
        this.query = query;
        this.patience = patience;
    }

    /**
     * All objects of a kind.
     *
     * @param client one that reads by {@link ApiServerJson}
     */
    public static <T extends HasMetadata> StreamedList<T> of(
            KubernetesClient client, Class<T> kind) {
        return new StreamedList<>(
                client,
                (ApiServerSerialization) client.getKubernetesSerialization(),
                kind,
                Map.of(),
                Duration.ofMillis(client.getConfiguration().getRequestTimeout()));
    }

    /**
     * Those of them that have these labels.
     *
     * @param selector as in {@code kubectl get --selector}
     */
    public StreamedList<T> withLabels(String selector) {
        return with("labelSelector", selector);
    }

    /**
     * Those of them that have these values.
     *
     * @param selector as in {@code kubectl get --field-selector}
     */
    public StreamedList<T> withFields(String selector) {
        return with("fieldSelector", selector);
    }

    private StreamedList<T> with(String parameter, String value) {
        var more = new LinkedHashMap<>(query);
        more.put(parameter, value);
        return new StreamedList<>(client, serialization, kind, more, patience);
    }

    /**
     * The same with another patience.
     *
     * @param patience for how long the API server may say nothing
     */
    public StreamedList<T> within(Duration patience) {
        return new StreamedList<>(client, serialization, kind, query, patience);
    }

    /**
     * Shows each object; nothing of it is kept when the next is read.
     *
     * @return the position of the list, a resource version
     * @throws KubernetesClientException if the API server does not answer, or not to the end; some
     *     objects may have been shown
     */
    public String forEach(Consumer<? super T> each) {
        ListMeta page;
        String next = null;
        do {
            page = page(next, each);
            next = page.getContinue();
        } while (next != null && !next.isEmpty());
        return page.getResourceVersion();
    }

    private ListMeta page(@Nullable String next, Consumer<? super T> each) {
        HttpRequest request = request(next);
        try (InputStream body = answer(request)) {
            return serialization.forEach(body, kind, each::accept);
        } catch (DatabindException e) {
            // Of a kind that is not what it was: no outage, and there the next time too.
            throw e;
        } catch (IOException | JacksonException e) {
            throw new KubernetesClientException(
                    "The list of %s ended early: %s"
                            .formatted(HasMetadata.getPlural(kind), e.getMessage()),
                    e);
        }
    }

    private HttpRequest request(@Nullable String next) {
        String version = HasMetadata.getApiVersion(kind);
        var url =
                new URLBuilder(
                        "%s%s/%s/%s"
                                .formatted(
                                        client.getConfiguration().getMasterUrl(),
                                        version.contains("/") ? "apis" : "api",
                                        version,
                                        HasMetadata.getPlural(kind)));
        query.forEach(url::addQueryParameter);
        url.addQueryParameter("limit", String.valueOf(PAGE));
        if (next != null) {
            url.addQueryParameter("continue", next);
        }
        return client.getHttpClient()
                .newHttpRequestBuilder()
                .url(url.build())
                .header("Accept", "application/json")
                .timeout(patience.toMillis(), TimeUnit.MILLISECONDS)
                .build();
    }

    private InputStream answer(HttpRequest request) throws IOException {
        CompletableFuture<HttpResponse<InputStream>> coming =
                client.getHttpClient().sendAsync(request, InputStream.class);
        try {
            HttpResponse<InputStream> response =
                    coming.get(patience.toMillis(), TimeUnit.MILLISECONDS);
            if (!response.isSuccessful()) {
                throw refused(response);
            }
            return new Impatient(response.body());
        } catch (InterruptedException e) {
            giveUp(coming);
            Thread.currentThread().interrupt();
            throw new InterruptedIOException();
        } catch (ExecutionException | TimeoutException e) {
            giveUp(coming);
            throw new IOException(e);
        }
    }

    /** The client's own timeouts end with the head of an answer. */
    private final class Impatient extends FilterInputStream {

        private Impatient(InputStream body) {
            super(body);
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            var waiting = new CompletableFuture<@Nullable Void>();
            var _ =
                    waiting.orTimeout(patience.toMillis(), TimeUnit.MILLISECONDS)
                            .whenComplete((_, tooLong) -> {
                                if (tooLong != null) {
                                    closeQuietly(in);
                                }
                            });
            try {
                return super.read(bytes, offset, length);
            } catch (IOException e) {
                throw waiting.isCompletedExceptionally()
                        ? new IOException("nothing came for %s".formatted(patience), e)
                        : e;
            } finally {
                waiting.complete(null);
            }
        }
    }

    /** Nobody reads an answer that comes after all. */
    private static void giveUp(CompletableFuture<HttpResponse<InputStream>> coming) {
        var _ = coming.thenAccept(response -> closeQuietly(response.body()));
        coming.cancel(true);
    }

    private static void closeQuietly(InputStream body) {
        try {
            body.close();
        } catch (IOException e) {
            log.debug("closed already", e);
        }
    }

    private KubernetesClientException refused(HttpResponse<InputStream> response)
            throws IOException {
        Status status = new Status();
        try (InputStream body = response.body()) {
            status = serialization.unmarshal(body, Status.class);
        } catch (RuntimeException e) {
            log.debug("not the API server's words", e);
        }
        return new KubernetesClientException(
                "Cannot list %s: %d %s"
                        .formatted(
                                HasMetadata.getPlural(kind), response.code(), status.getMessage()),
                response.code(),
                status);
    }
}
