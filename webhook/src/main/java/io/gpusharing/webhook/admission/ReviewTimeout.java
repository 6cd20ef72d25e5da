package io.gpusharing.webhook.admission;

import java.time.DateTimeException;
import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** How long the API server waits, which it says in the URL as Go writes durations: {@code 2.9s}. */
final class ReviewTimeout {

    private ReviewTimeout() {}

    /**
     * @param parameter value of {@code timeout}; null if it was not given
     * @param otherwise if it was not given or cannot be read; also the longest
     */
    static Duration of(@Nullable String parameter, Duration otherwise) {
        if (parameter == null || parameter.endsWith("ms")) {
            return otherwise;
        }
        try {
            Duration said = Duration.parse("PT" + parameter.toUpperCase(Locale.ROOT));
            return said.isNegative() || said.compareTo(otherwise) > 0 ? otherwise : said;
        } catch (DateTimeException e) {
            return otherwise;
        }
    }
}
