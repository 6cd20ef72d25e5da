package io.gpusharing.timekeeper.web;

import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.support.ServletUriComponentsBuilder;

/**
 * One page of a list. The header {@code Link} (RFC 8288, {@code rel="next"}) has the address of the
 * next page; without it, this was the last.
 */
public final class Page {

    /** How many at most. */
    public static final int MAX_SIZE = 1_000;

    private Page() {}

    /**
     * How many were asked for.
     *
     * @throws ResponseStatusException 400 if it is none, or too many
     */
    public static int size(int limit) {
        if (limit < 1 || limit > MAX_SIZE) {
            throw new ResponseStatusException(
                    HttpStatus.BAD_REQUEST, "limit is from 1 to " + MAX_SIZE + ", not " + limit);
        }
        return limit;
    }

    /**
     * The page's answer.
     *
     * @param cursor what to ask for to go on behind an item
     */
    public static <T> ResponseEntity<List<T>> of(
            List<T> items, int limit, Function<T, String> cursor) {
        if (items.size() < limit) {
            return ResponseEntity.ok(items);
        }
        return ResponseEntity.ok()
                .header(HttpHeaders.LINK, next(cursor.apply(items.getLast())))
                .body(items);
    }

    /** Value of the header: the present request with another cursor. */
    public static String next(String cursor) {
        return next(cursor, Map.of());
    }

    /**
     * The same, where the list must not move from page to page.
     *
     * @param fixed parameters as they were understood
     */
    public static String next(String cursor, Map<String, ?> fixed) {
        var present = ServletUriComponentsBuilder.fromCurrentRequest();
        fixed.forEach(present::replaceQueryParam);
        var address = present.replaceQueryParam("after", "{after}").encode().buildAndExpand(cursor);
        String query = address.getQuery() == null ? "" : "?" + address.getQuery();
        // Relative, because a client behind a port-forward uses another host name.
        return "<" + address.getPath() + query + ">; rel=\"next\"";
    }
}
