package io.gpusharing.timekeeper.aggregated;

import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;

/**
 * Why something was not done, as every API of a cluster says it.
 *
 * @param reason a word by which programs know it
 */
record Status(
        String kind,
        String apiVersion,
        Map<String, String> metadata,
        String status,
        @Nullable String message,
        String reason,
        int code) {

    /** The answer to a question that failed. */
    static Status failure(HttpStatus status, @Nullable String message) {
        return new Status(
                "Status", "v1", Map.of(), "Failure", message, reason(status), status.value());
    }

    /** Words of {@code k8s.io/apimachinery}, {@code metav1.StatusReason}. */
    private static String reason(HttpStatus status) {
        return switch (status) {
            case BAD_REQUEST -> "BadRequest";
            case UNAUTHORIZED -> "Unauthorized";
            case FORBIDDEN -> "Forbidden";
            case NOT_FOUND -> "NotFound";
            case METHOD_NOT_ALLOWED -> "MethodNotAllowed";
            case NOT_ACCEPTABLE -> "NotAcceptable";
            case CONFLICT -> "Conflict";
            case GONE -> "Expired";
            case CONTENT_TOO_LARGE -> "RequestEntityTooLarge";
            case UNSUPPORTED_MEDIA_TYPE -> "UnsupportedMediaType";
            case UNPROCESSABLE_CONTENT -> "Invalid";
            case TOO_MANY_REQUESTS -> "TooManyRequests";
            case SERVICE_UNAVAILABLE -> "ServiceUnavailable";
            default -> "InternalError";
        };
    }
}
