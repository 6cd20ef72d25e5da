package io.gpusharing.scheduler.access;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.Names;
import io.gpusharing.scheduler.explaining.PlacementQuestions;
import io.gpusharing.web.AccessReviews;
import io.gpusharing.web.AccessReviews.TooManyTokensException;
import io.gpusharing.web.Caller;
import io.gpusharing.web.QuestionBodies;
import io.gpusharing.wire.Explanation;
import io.gpusharing.wire.ExplanationQuestion;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpFilter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Clock;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.util.unit.DataSize;
import org.springframework.web.server.ResponseStatusException;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.exc.MismatchedInputException;
import tools.jackson.databind.json.JsonMapper;

/**
 * Answers the timekeeper on the port that is its own, and lets nothing else of this service be
 * reached there. What the person who asks is to read is {@code application/problem+json}; what the
 * timekeeper itself did wrong is text, so that it is not taken for the person's.
 */
final class ExplanationsFilter extends HttpFilter {

    /** The only address. */
    static final String PATH = "/explanations";

    private static final Logger log = LoggerFactory.getLogger(ExplanationsFilter.class);
    private static final String BEARER = "Bearer ";
    private static final JsonMapper JSON = JsonMapper.builder().build();

    private final transient ExplanationsConnector connector;
    private final String asker;
    private final transient AccessReviews reviews;
    private final transient QuestionBodies bodies;
    private final transient PlacementQuestions questions;

    /**
     * @param asker the only user who may ask, as the API server calls it
     * @param reviews of tokens for this port alone
     * @param most bytes of a question
     */
    ExplanationsFilter(
            ExplanationsConnector connector,
            String asker,
            AccessReviews reviews,
            PlacementQuestions questions,
            DataSize most,
            Clock clock) {
        this.connector = connector;
        this.asker = asker;
        this.reviews = reviews;
        this.questions = questions;
        this.bodies = new QuestionBodies("question", most, PlacementQuestions.AT_ONCE, clock);
    }

    /** What the person who asks reads (RFC 9457). */
    private record Problem(int status, @Nullable String detail) {}

    /** What the timekeeper has to do otherwise. */
    private record Refusal(HttpStatus status, String reason) {}

    @Override
    protected void doFilter(
            HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        if (!connector.received(request)) {
            chain.doFilter(request, response);
            return;
        }
        Refusal refusal = refusal(request, response);
        if (refusal == null) {
            answer(request, response);
        } else {
            write(response, refusal);
        }
    }

    private @Nullable Refusal refusal(HttpServletRequest request, HttpServletResponse response) {
        if (!request.getRequestURI().equals(PATH)) {
            return new Refusal(HttpStatus.NOT_FOUND, "there is nothing at this address");
        }
        if (!request.getMethod().equals("POST")) {
            response.setHeader(HttpHeaders.ALLOW, "POST");
            return new Refusal(HttpStatus.METHOD_NOT_ALLOWED, "this takes POST alone");
        }
        try {
            Optional<Caller> caller = caller(request.getHeader(HttpHeaders.AUTHORIZATION));
            if (caller.isEmpty()) {
                response.setHeader(HttpHeaders.WWW_AUTHENTICATE, "Bearer");
                return new Refusal(
                        HttpStatus.UNAUTHORIZED,
                        "show a token that the API server knows, of the audience "
                                + Names.EXPLANATIONS_AUDIENCE);
            }
            return caller.get().name().equals(asker)
                    ? null
                    : new Refusal(HttpStatus.FORBIDDEN, "%s alone may ask".formatted(asker));
        } catch (TooManyTokensException e) {
            return new Refusal(HttpStatus.SERVICE_UNAVAILABLE, String.valueOf(e.getMessage()));
        } catch (KubernetesClientException e) {
            return new Refusal(
                    HttpStatus.SERVICE_UNAVAILABLE,
                    "the API server cannot be asked now whose token it is");
        }
    }

    private Optional<Caller> caller(@Nullable String header) {
        return header != null && header.regionMatches(true, 0, BEARER, 0, BEARER.length())
                ? reviews.caller(header.substring(BEARER.length()).strip())
                : Optional.empty();
    }

    private void answer(HttpServletRequest request, HttpServletResponse response)
            throws IOException {
        try {
            Explanation explanation =
                    bodies.read(request, body -> questions.answer(question(body)));
            response.setContentType(MediaType.APPLICATION_JSON_VALUE);
            response.getOutputStream().write(JSON.writeValueAsBytes(explanation));
        } catch (ResponseStatusException e) {
            write(response, new Problem(e.getStatusCode().value(), e.getReason()));
        } catch (JacksonException e) {
            write(
                    response,
                    new Refusal(
                            HttpStatus.BAD_REQUEST,
                            "this is no question: " + e.getOriginalMessage()));
        } catch (IOException e) {
            write(
                    response,
                    new Refusal(HttpStatus.REQUEST_TIMEOUT, "the question came in part alone"));
        } catch (RuntimeException e) {
            log.atError().setCause(e).log("a question could not be answered");
            write(
                    response,
                    new Refusal(HttpStatus.INTERNAL_SERVER_ERROR, "this should not happen"));
        }
    }

    private static ExplanationQuestion question(String body) {
        ExplanationQuestion question = JSON.readValue(body, ExplanationQuestion.class);
        if (question == null) {
            throw MismatchedInputException.from(null, ExplanationQuestion.class, "null");
        }
        return question;
    }

    private static void write(HttpServletResponse response, Problem problem) throws IOException {
        response.setStatus(problem.status());
        // Another connection may lead to another replica, which may know more.
        response.setHeader(HttpHeaders.CONNECTION, "close");
        response.setContentType(MediaType.APPLICATION_PROBLEM_JSON_VALUE);
        response.getOutputStream().write(JSON.writeValueAsBytes(problem));
    }

    private static void write(HttpServletResponse response, Refusal refusal) throws IOException {
        response.setStatus(refusal.status().value());
        response.setHeader(HttpHeaders.CONNECTION, "close");
        response.setContentType("text/plain;charset=utf-8");
        response.getOutputStream().write((refusal.reason() + "\n").getBytes(UTF_8));
    }
}
