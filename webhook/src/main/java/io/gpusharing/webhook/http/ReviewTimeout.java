package io.gpusharing.webhook.http;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** How long the API server waits, which it says in the URL as Go writes durations: {@code 2.9s}. */
final class ReviewTimeout {

    private static final String NAME = "timeout=";

    private ReviewTimeout() {}

    /**
     * Read from the URL alone: asking the servlet for a parameter may swallow the body.
     *
     * @param query the URL's query; null if there is none
     * @param otherwise if it says nothing that can be read; also the longest
     */
    static Duration of(@Nullable String query, Duration otherwise) {
        if (query == null) {
            return otherwise;
        }
        for (String parameter : query.split("&", -1)) {
            if (parameter.startsWith(NAME)) {
                return parse(parameter.substring(NAME.length()), otherwise);
            }
        }
        return otherwise;
    }

    private static Duration parse(String said, Duration otherwise) {
        if (!said.endsWith("s")) {
            return otherwise;
        }
        try {
            double seconds = Double.parseDouble(said.substring(0, said.length() - 1));
            long millis = Math.round(seconds * 1000);
            return 0 < millis && millis < otherwise.toMillis()
                    ? Duration.ofMillis(millis)
                    : otherwise;
        } catch (NumberFormatException e) {
            return otherwise;
        }
    }
}
