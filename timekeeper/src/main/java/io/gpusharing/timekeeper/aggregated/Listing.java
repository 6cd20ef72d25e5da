package io.gpusharing.timekeeper.aggregated;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.server.ResponseStatusException;

/**
 * How a list is asked for, {@code metav1.ListOptions}.
 *
 * @param limit how many at most; null if none was set: then all, but for processes, which are many
 * @param after what the last page ended with; null for the first one
 */
record Listing(@Nullable Integer limit, @Nullable List<String> after) {

    /** More are never on a page. */
    private static final int MOST = 500;

    private static final String SEPARATOR = "\n";

    /** Anything else is true to an API server. */
    private static final Set<String> NOT_WATCHED = Set.of("", "false", "0");

    /**
     * Reads the parameters of a request.
     *
     * @throws ResponseStatusException 400 for what is not to be understood, 405 for a watch
     */
    static Listing of(Map<String, String> parameters) {
        if (!NOT_WATCHED.contains(parameters.getOrDefault("watch", ""))) {
            throw new ResponseStatusException(
                    HttpStatus.METHOD_NOT_ALLOWED,
                    "This cannot be watched; ask again, for instance by watch kubectl get");
        }
        String continued = parameters.getOrDefault("continue", "");
        return new Listing(
                limit(parameters.get("limit")), continued.isEmpty() ? null : read(continued));
    }

    private static @Nullable Integer limit(@Nullable String written) {
        try {
            long limit = written == null || written.isEmpty() ? 0 : Long.parseLong(written);
            return limit <= 0 ? null : (int) Math.min(limit, MOST);
        } catch (NumberFormatException e) {
            throw new ResponseStatusException(HttpStatus.BAD_REQUEST, "limit is a number", e);
        }
    }

    private static List<String> read(String continued) {
        try {
            return List.of(
                    new String(Base64.getUrlDecoder().decode(continued), StandardCharsets.UTF_8)
                            .split(SEPARATOR, -1));
        } catch (IllegalArgumentException e) {
            throw new ResponseStatusException(
                    HttpStatus.BAD_REQUEST, "continue is none of ours", e);
        }
    }

    /** What a client sends back for the next page. */
    static String continued(List<String> last) {
        return Base64.getUrlEncoder()
                .withoutPadding()
                .encodeToString(String.join(SEPARATOR, last).getBytes(StandardCharsets.UTF_8));
    }

    /** Metadata of a page. */
    static Map<String, Object> metadata(@Nullable String continued) {
        return continued == null
                ? Map.of("resourceVersion", "")
                : Map.of("resourceVersion", "", "continue", continued);
    }

    /** An answer whose type says no more than that it is JSON, however it was asked for. */
    static ResponseEntity<Object> answer(Object body) {
        return ResponseEntity.ok().contentType(MediaType.APPLICATION_JSON).body(body);
    }
}
