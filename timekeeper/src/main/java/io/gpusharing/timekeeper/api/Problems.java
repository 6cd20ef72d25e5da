package io.gpusharing.timekeeper.api;

import io.fabric8.kubernetes.client.KubernetesClientException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.transaction.TransactionException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.servlet.mvc.method.annotation.ResponseEntityExceptionHandler;

/** Every error is told as {@code application/problem+json} (RFC 9457), with what to do about it. */
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
        if (status == null || !status.is4xxClientError()) {
            return answer(
                    HttpStatus.SERVICE_UNAVAILABLE,
                    "The API server cannot be asked now; ask again in a few seconds");
        }
        String told = e.getStatus() == null ? null : e.getStatus().getMessage();
        return answer(status, "The API server answered: " + (told == null ? status : told));
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
            @Nullable Object body,
            HttpHeaders headers,
            HttpStatusCode status,
            org.springframework.web.context.request.WebRequest request) {
        // Also where a client asked for CSV.
        var told = new HttpHeaders(headers);
        told.setContentType(MediaType.APPLICATION_PROBLEM_JSON);
        return new ResponseEntity<>(body, told, status);
    }

    private static ResponseEntity<ProblemDetail> answer(HttpStatus status, String detail) {
        var answer = ResponseEntity.status(status).contentType(MediaType.APPLICATION_PROBLEM_JSON);
        if (status == HttpStatus.SERVICE_UNAVAILABLE) {
            answer.header(HttpHeaders.RETRY_AFTER, "2");
        }
        return answer.body(ProblemDetail.forStatusAndDetail(status, detail));
    }
}
