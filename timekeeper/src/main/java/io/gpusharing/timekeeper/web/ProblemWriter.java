package io.gpusharing.timekeeper.web;

import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.security.authentication.AuthenticationServiceException;
import org.springframework.security.web.AuthenticationEntryPoint;
import org.springframework.stereotype.Component;
import tools.jackson.databind.json.JsonMapper;

/** Answers requests that no controller gets to see as {@link Problems} answers the others. */
@Component
public final class ProblemWriter {

    private final JsonMapper json;

    public ProblemWriter(JsonMapper json) {
        this.json = json;
    }

    /** The whole answer. */
    public void write(HttpServletResponse response, HttpStatus status, @Nullable String detail)
            throws IOException {
        response.setStatus(status.value());
        response.setContentType(MediaType.APPLICATION_PROBLEM_JSON_VALUE);
        response.getOutputStream()
                .write(json.writeValueAsBytes(ProblemDetail.forStatusAndDetail(status, detail)));
    }

    /**
     * Answers those whose token is not good, or cannot be looked at now.
     *
     * @param retryAfter when to come back with the latter, in whole seconds
     */
    public AuthenticationEntryPoint entryPoint(Duration retryAfter) {
        return (request, response, problem) -> {
            if (problem instanceof AuthenticationServiceException) {
                response.setHeader(HttpHeaders.RETRY_AFTER, Long.toString(retryAfter.toSeconds()));
                write(response, HttpStatus.SERVICE_UNAVAILABLE, problem.getMessage());
            } else {
                response.setHeader(HttpHeaders.WWW_AUTHENTICATE, "Bearer");
                write(response, HttpStatus.UNAUTHORIZED, problem.getMessage());
            }
        };
    }
}
