package io.gpusharing.timekeeper.explanation;

import io.gpusharing.kubernetes.OutageLog;
import io.gpusharing.wire.Explanation;
import io.gpusharing.wire.ExplanationQuestion;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.Set;
import javax.net.ssl.SSLException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.stereotype.Component;
import org.springframework.web.server.ResponseStatusException;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/**
 * Asks the scheduler why a pod waits. Any of its replicas that has read the cluster answers; where
 * none does, the person who asks is told so.
 */
@Component
public class SchedulerExplanations {

    private static final Logger log = LoggerFactory.getLogger(SchedulerExplanations.class);

    /** The scheduler answers within ten seconds, or says that it cannot. */
    private static final Duration PATIENCE = Duration.ofSeconds(12);

    /** So soon after the beginning there is time to ask again. */
    private static final Duration SOON = Duration.ofSeconds(3);

    /** Of an answer that is not understood, for the log. */
    private static final int MOST_TEXT = 200;

    /** Several times what fifty nodes of eight GPUs with ten pods each take. */
    private static final long MOST_BYTES = 4L * 1024 * 1024;

    /**
     * What the scheduler says to the person who asks, and not to us. What else it answers, that our
     * token is not good for instance, is no fault of theirs.
     */
    private static final Set<Integer> OF_THE_PERSON =
            Set.of(
                    HttpStatus.NOT_FOUND.value(),
                    HttpStatus.CONTENT_TOO_LARGE.value(),
                    HttpStatus.UNPROCESSABLE_CONTENT.value(),
                    HttpStatus.SERVICE_UNAVAILABLE.value());

    private static final String NOBODY =
            "No scheduler of GPUSharing says now where pods fit; ask again in a few seconds";

    /** What a newer scheduler says besides is left out. */
    private static final JsonMapper JSON = JsonMapper.builder().build();

    private final SchedulerConnections scheduler;
    private final URI uri;
    private final OutageLog outage;

    SchedulerExplanations(
            SchedulerConnections scheduler, ExplanationProperties properties, Clock clock) {
        this.scheduler = scheduler;
        this.uri = properties.url().resolve("/explanations");
        this.outage = new OutageLog(log, "explanations", clock);
    }

    /**
     * Asks.
     *
     * @throws ResponseStatusException with a sentence for the person who asks
     */
    public Explanation ask(ExplanationQuestion question) {
        try {
            Explanation explanation = read(answer(JSON.writeValueAsBytes(question)));
            synchronized (outage) {
                outage.over();
            }
            return explanation;
        } catch (IOException e) {
            synchronized (outage) {
                outage.failed(e);
            }
            throw new ResponseStatusException(HttpStatus.SERVICE_UNAVAILABLE, NOBODY);
        }
    }

    private HttpResponse<byte[]> answer(byte[] question) throws IOException {
        long begin = System.nanoTime();
        try {
            HttpResponse<byte[]> first = send(question);
            if (first.statusCode() != HttpStatus.SERVICE_UNAVAILABLE.value() || !isSoon(begin)) {
                return first;
            }
        } catch (IOException e) {
            if (!isSoon(begin)) {
                throw e;
            }
            if (e instanceof SSLException) {
                scheduler.doubt();
            }
        }
        // Another connection may lead to a replica that is there and has read the cluster.
        return send(question);
    }

    private static boolean isSoon(long begin) {
        return System.nanoTime() - begin < SOON.toNanos();
    }

    private HttpResponse<byte[]> send(byte[] question) throws IOException {
        HttpRequest request =
                HttpRequest.newBuilder(uri)
                        .timeout(PATIENCE)
                        .header(HttpHeaders.AUTHORIZATION, "Bearer " + scheduler.token())
                        .header(HttpHeaders.CONTENT_TYPE, MediaType.APPLICATION_JSON_VALUE)
                        .POST(BodyPublishers.ofByteArray(question))
                        .build();
        try {
            return scheduler
                    .connections()
                    .send(request, BodyHandlers.limiting(BodyHandlers.ofByteArray(), MOST_BYTES));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted");
        }
    }

    private static Explanation read(HttpResponse<byte[]> answer) throws IOException {
        int status = answer.statusCode();
        boolean problem =
                answer.headers()
                        .firstValue(HttpHeaders.CONTENT_TYPE)
                        .filter(MediaType.APPLICATION_PROBLEM_JSON_VALUE::equals)
                        .isPresent();
        try {
            if (status == HttpStatus.OK.value()) {
                Explanation explanation = JSON.readValue(answer.body(), Explanation.class);
                if (explanation == null) {
                    throw new IOException("the scheduler answered nothing");
                }
                return explanation;
            }
            if (problem && OF_THE_PERSON.contains(status)) {
                throw new ResponseStatusException(
                        HttpStatus.valueOf(status),
                        JSON.readTree(answer.body()).path("detail").asString(NOBODY));
            }
        } catch (JacksonException e) {
            throw new IOException("the scheduler's answer cannot be read", e);
        }
        String text = new String(answer.body(), StandardCharsets.UTF_8).strip();
        throw new IOException(
                "the scheduler answered %d: %s"
                        .formatted(status, text.substring(0, Math.min(text.length(), MOST_TEXT))));
    }
}
