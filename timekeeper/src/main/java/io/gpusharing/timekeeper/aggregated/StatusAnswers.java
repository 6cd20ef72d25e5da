package io.gpusharing.timekeeper.aggregated;

import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.springframework.core.MethodParameter;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.http.converter.HttpMessageConverter;
import org.springframework.http.server.ServerHttpRequest;
import org.springframework.http.server.ServerHttpResponse;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.servlet.mvc.method.annotation.ResponseBodyAdvice;
import tools.jackson.databind.json.JsonMapper;

/** Says what went wrong as clients of a cluster's APIs read it, in the words of everywhere else. */
@RestControllerAdvice
class StatusAnswers implements ResponseBodyAdvice<Object> {

    private final JsonMapper json;

    StatusAnswers(JsonMapper json) {
        this.json = json;
    }

    /** The whole answer to who is not let through. */
    void write(HttpServletResponse response, HttpStatus status, @Nullable String message)
            throws IOException {
        response.setStatus(status.value());
        response.setContentType(MediaType.APPLICATION_JSON_VALUE);
        response.getOutputStream().write(json.writeValueAsBytes(Status.failure(status, message)));
    }

    @Override
    public boolean supports(
            MethodParameter returned, Class<? extends HttpMessageConverter<?>> converter) {
        return true;
    }

    @Override
    public @Nullable Object beforeBodyWrite(
            @Nullable Object body,
            MethodParameter returned,
            MediaType type,
            Class<? extends HttpMessageConverter<?>> converter,
            ServerHttpRequest request,
            ServerHttpResponse response) {
        if (!(body instanceof ProblemDetail problem)
                || !Discovery.isOurs(request.getURI().getPath())) {
            return body;
        }
        response.getHeaders().setContentType(MediaType.APPLICATION_JSON);
        return Status.failure(HttpStatus.valueOf(problem.getStatus()), problem.getDetail());
    }
}
