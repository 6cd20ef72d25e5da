package io.gpusharing.timekeeper.usage;

import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.statement.Span;
import io.gpusharing.timekeeper.usage.WasteReport.Line;
import io.gpusharing.timekeeper.usage.WasteReport.Question;
import io.gpusharing.timekeeper.web.Callers;
import io.gpusharing.timekeeper.web.NamespaceParameter;
import io.gpusharing.timekeeper.web.Page;
import io.gpusharing.timekeeper.web.UsageApi;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.security.core.Authentication;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** Who held GPUs and did not use them. */
@RestController
class WasteController {

    private static final Duration PAST = Duration.ofDays(7);

    private final WasteReport report;
    private final Budgets budgets;
    private final Callers callers;
    private final Clock clock;

    WasteController(WasteReport report, Budgets budgets, Callers callers, Clock clock) {
        this.report = report;
        this.budgets = budgets;
        this.callers = callers;
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
        Question question = question(from, to, NamespaceParameter.checked(namespace), budget);
        return page(lines(question, by, limit, after), question, limit, after);
    }

    /**
     * The same of a budget that there is. Pods of namespaces where who asks may not get pods have
     * neither uid nor name, and nobody can tell whose they were.
     */
    @GetMapping(UsageApi.BUDGET + "/waste")
    ResponseEntity<List<Line>> ofBudget(
            @PathVariable String budget,
            @RequestParam(defaultValue = "pod") By by,
            @RequestParam(required = false) @Nullable Instant from,
            @RequestParam(required = false) @Nullable Instant to,
            @RequestParam(defaultValue = "100") int limit,
            @RequestParam(defaultValue = "0") long after,
            Authentication who) {
        Question question = question(from, to, null, budgets.existing(budget).name());
        List<Line> lines = lines(question, by, limit, after);
        Set<String> shown =
                callers.podsShown(Callers.of(who), lines.stream().map(Line::namespace).toList());
        return page(
                lines.stream()
                        .map(line -> shown.contains(line.namespace()) ? line : line.withoutPod())
                        .toList(),
                question,
                limit,
                after);
    }

    private Question question(
            @Nullable Instant from,
            @Nullable Instant to,
            @Nullable String namespace,
            @Nullable String budget) {
        Instant now = now();
        Span span = Span.of(from, to, now.minus(PAST), now);
        return new Question(span.from(), span.to(), namespace, budget);
    }

    private List<Line> lines(Question question, By by, int limit, long after) {
        if (after < 0) {
            throw new ResponseStatusException(HttpStatus.BAD_REQUEST, "after is not below 0");
        }
        return report.lines(question, by == By.owner, now(), Page.size(limit), after);
    }

    private static ResponseEntity<List<Line>> page(
            List<Line> lines, Question question, int limit, long after) {
        var answer = ResponseEntity.ok();
        if (lines.size() == limit) {
            answer.header(
                    HttpHeaders.LINK,
                    Page.next(
                            Long.toString(after + limit),
                            Map.of("from", question.from(), "to", question.to())));
        }
        return answer.body(lines);
    }

    private Instant now() {
        return clock.instant().truncatedTo(ChronoUnit.SECONDS);
    }
}
