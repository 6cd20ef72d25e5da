package io.gpusharing.timekeeper.web;

import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.ConversionNotSupportedException;
import org.springframework.beans.TypeMismatchException;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.http.converter.HttpMessageNotReadableException;
import org.springframework.security.web.firewall.RequestRejectedException;
import org.springframework.transaction.TransactionException;
import org.springframework.web.bind.MethodArgumentNotValidException;
import org.springframework.web.bind.MissingRequestHeaderException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.context.request.WebRequest;
import org.springframework.web.servlet.mvc.method.annotation.ResponseEntityExceptionHandler;
import org.springframework.web.servlet.resource.NoResourceFoundException;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.exc.MismatchedInputException;
import tools.jackson.databind.exc.UnrecognizedPropertyException;

/**
 * Every error is answered as {@code application/problem+json} (RFC 9457), with what to do about it.
 */
@RestControllerAdvice
class Problems extends ResponseEntityExceptionHandler {

    private static final Logger log = LoggerFactory.getLogger(Problems.class);

    /** What was asked holds something that the database cannot, for instance the character 0. */
    @ExceptionHandler(DataIntegrityViolationException.class)
    ResponseEntity<ProblemDetail> notStorable(DataIntegrityViolationException e) {
        log.atInfo().addKeyValue("problem", e.getMessage()).log("a question was not understood");
        return answer(
                HttpStatus.BAD_REQUEST, "A parameter holds characters or numbers that cannot be");
    }

    /** A header holds bytes that are no characters; {@code Idempotency-Key} for instance. */
    @ExceptionHandler(RequestRejectedException.class)
    ResponseEntity<ProblemDetail> rejected() {
        return answer(
                HttpStatus.BAD_REQUEST,
                "A header, for instance the Idempotency-Key, holds characters that cannot be; use ASCII");
    }

    /** The database is away or busy: nothing was done. */
    @ExceptionHandler({DataAccessException.class, TransactionException.class})
    ResponseEntity<ProblemDetail> noDatabase(RuntimeException e) {
        log.atWarn().setCause(e).log("a question could not be answered by the database");
        return answer(
                HttpStatus.SERVICE_UNAVAILABLE, "The database is away; ask again in a few seconds");
    }

    /** The API server said no, or nothing. */
    @ExceptionHandler(KubernetesClientException.class)
    ResponseEntity<ProblemDetail> apiServer(KubernetesClientException e) {
        HttpStatus status = HttpStatus.resolve(e.getCode());
        String message = e.getStatus() == null ? null : e.getStatus().getMessage();
        if (status == null || !status.is4xxClientError()) {
            return answer(
                    HttpStatus.SERVICE_UNAVAILABLE,
                    message == null
                            ? "The API server cannot be asked now; ask again in a few seconds"
                            // For instance that it could not call a webhook.
                            : "The API server could not do it, and nothing was changed: "
                                    + message);
        }
        return answer(status, "The API server answered: " + (message == null ? status : message));
    }

    /** A body that can be read, but holds what is not asked for, is answered 422. */
    @Override
    protected @Nullable ResponseEntity<Object> handleExceptionInternal(
            Exception e,
            @Nullable Object body,
            HttpHeaders headers,
            HttpStatusCode status,
            WebRequest request) {
        boolean readable =
                e instanceof HttpMessageNotReadableException
                        && (e.getCause() instanceof MismatchedInputException
                                || isTwice(e.getCause()));
        HttpStatusCode answered = readable ? HttpStatus.UNPROCESSABLE_CONTENT : status;
        String detail = detail(e);
        return super.handleExceptionInternal(
                e,
                detail == null ? body : ProblemDetail.forStatusAndDetail(answered, detail),
                headers,
                answered,
                request);
    }

    /** What to do about it; null where Spring says it well enough. */
    private static @Nullable String detail(Exception e) {
        return switch (e) {
            case ConversionNotSupportedException ours -> null;
            case TypeMismatchException mismatch ->
                    "%s is %s, not %s"
                            .formatted(
                                    mismatch.getPropertyName(),
                                    kind(mismatch.getRequiredType()),
                                    mismatch.getValue());
            case HttpMessageNotReadableException unreadable -> unreadable(unreadable.getCause());
            // All of them at once.
            case MethodArgumentNotValidException invalid ->
                    invalid.getFieldErrors().stream()
                            .map(error -> error.getField() + " " + error.getDefaultMessage())
                            .sorted()
                            .collect(Collectors.joining("; "));
            case MissingRequestHeaderException missing ->
                    "The header %s is missing; it is any text that names what you do, so that doing it again changes nothing"
                            .formatted(missing.getHeaderName());
            case NoResourceFoundException nothing ->
                    "There is no /%s; GET /api/v1/openapi describes all that there is"
                            .formatted(nothing.getResourcePath());
            default -> null;
        };
    }

    private static String unreadable(@Nullable Throwable cause) {
        return switch (cause) {
            case UnrecognizedPropertyException unknown ->
                    "There is no field %s; the fields are %s"
                            .formatted(
                                    unknown.getPropertyName(),
                                    words(unknown.getKnownPropertyIds()));
            case MismatchedInputException other ->
                    "%s is %s".formatted(field(other), kind(other.getTargetType()));
            case JacksonException json when isTwice(json) -> json.getOriginalMessage();
            case JacksonException json ->
                    "The body is no JSON object: " + json.getOriginalMessage();
            case null, default -> "The body is missing: a JSON object";
        };
    }

    /** Anything that nobody has thought of. */
    @ExceptionHandler(Exception.class)
    ResponseEntity<ProblemDetail> unforeseen(Exception e) {
        log.atError().setCause(e).log("a question could not be answered");
        return answer(
                HttpStatus.INTERNAL_SERVER_ERROR,
                "This should not happen; the timekeeper's log says more");
    }

    @Override
    protected ResponseEntity<Object> createResponseEntity(
            @Nullable Object body, HttpHeaders headers, HttpStatusCode status, WebRequest request) {
        // Also where a client asked for CSV.
        var message = new HttpHeaders(headers);
        message.setContentType(MediaType.APPLICATION_PROBLEM_JSON);
        return new ResponseEntity<>(body, message, status);
    }

    private static boolean isTwice(@Nullable Throwable unreadable) {
        return unreadable instanceof JacksonException json
                && json.getOriginalMessage().startsWith("Duplicate");
    }

    private static String field(JacksonException e) {
        String name =
                e.getPath().stream()
                        .map(JacksonException.Reference::getPropertyName)
                        .filter(Objects::nonNull)
                        .collect(Collectors.joining("."));
        return name.isEmpty() ? "The body" : name;
    }

    /** What a value has to look like. */
    private static String kind(@Nullable Class<?> type) {
        if (type == null) {
            return "something else";
        }
        if (type.isEnum()) {
            return "one of " + words(List.of(type.getEnumConstants()));
        }
        return switch (type.getSimpleName()) {
            case "Instant" -> "an instant such as 2026-11-01T00:00:00Z";
            case "UUID" -> "a uid such as 0c5c2a52-6d0b-4b0a-9b7e-0a6f4b4b2f10";
            case "int", "long", "Integer", "Long" -> "a whole number";
            case "String" -> "a text";
            default -> "a JSON object";
        };
    }

    private static String words(Collection<?> all) {
        return all.stream().map(String::valueOf).sorted().collect(Collectors.joining(", "));
    }

    private static ResponseEntity<ProblemDetail> answer(HttpStatus status, String detail) {
        var answer = ResponseEntity.status(status).contentType(MediaType.APPLICATION_PROBLEM_JSON);
        if (status == HttpStatus.SERVICE_UNAVAILABLE) {
            answer.header(HttpHeaders.RETRY_AFTER, "2");
        }
        return answer.body(ProblemDetail.forStatusAndDetail(status, detail));
    }
}
