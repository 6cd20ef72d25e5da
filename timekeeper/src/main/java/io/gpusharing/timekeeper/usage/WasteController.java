package io.gpusharing.timekeeper.usage;

import io.gpusharing.timekeeper.statement.Span;
import io.gpusharing.timekeeper.usage.WasteReport.Line;
import io.gpusharing.timekeeper.usage.WasteReport.Question;
import io.gpusharing.timekeeper.web.Page;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** Who held GPUs and did not use them. */
@RestController
class WasteController {

    private static final Duration PAST = Duration.ofDays(7);

    private final WasteReport report;
    private final Clock clock;

    WasteController(WasteReport report, Clock clock) {
        this.report = report;
        this.clock = clock;
    }

    /** What a line is about. */
    enum By {
        pod,
        owner
    }

    /**
     * Pods that were there in [from, to), most idle first.
     *
     * @param by whether each pod is a line, or all pods of an owner together
     * @param from a whole second; a week ago if absent
     * @param to a whole second; now if absent or later
     * @param after number of lines of the pages before, from the header {@code Link}
     */
    @GetMapping("/api/v1/waste")
    ResponseEntity<List<Line>> waste(
            @RequestParam(defaultValue = "pod") By by,
            @RequestParam(required = false) @Nullable Instant from,
            @RequestParam(required = false) @Nullable Instant to,
            @RequestParam(required = false) @Nullable String namespace,
            @RequestParam(required = false) @Nullable String budget,
            @RequestParam(defaultValue = "100") int limit,
            @RequestParam(defaultValue = "0") long after) {
        if (after < 0) {
            throw new ResponseStatusException(HttpStatus.BAD_REQUEST, "after is not below 0");
        }
        Instant now = clock.instant().truncatedTo(ChronoUnit.SECONDS);
        Span span = Span.of(from, to, now.minus(PAST), now);
        List<Line> lines =
                report.lines(
                        new Question(span.from(), span.to(), namespace, budget),
                        by == By.owner,
                        now,
                        Page.size(limit),
                        after);
        return Page.of(lines, limit, last -> Long.toString(after + limit));
    }
}
