package io.gpusharing.timekeeper.statement;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.timekeeper.budget.Balances;
import io.gpusharing.timekeeper.budget.Balances.Stretch;
import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.budget.account.AccountStatement.BalanceChange;
import io.gpusharing.timekeeper.database.Snapshot;
import io.gpusharing.timekeeper.ledger.Unwatched;
import io.gpusharing.timekeeper.ledger.store.UnwatchedSpans;
import io.gpusharing.timekeeper.statement.StatementLine.Place;
import io.gpusharing.timekeeper.statement.StatementRepository.Lines;
import io.gpusharing.timekeeper.web.Callers;
import io.gpusharing.timekeeper.web.Page;
import io.gpusharing.timekeeper.web.UsageApi;
import io.swagger.v3.oas.annotations.media.Content;
import io.swagger.v3.oas.annotations.media.Schema;
import io.swagger.v3.oas.annotations.responses.ApiResponse;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.security.core.Authentication;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** Where a budget's time went. */
@RestController
@RequestMapping({"/api/v1/budgets/{budget}", UsageApi.BUDGET})
class StatementController {

    /** So that clients who read slowly never take all connections away from the ledger. */
    private static final int MAX_DOWNLOADS = 2;

    private final Balances balances;
    private final StatementRepository repository;
    private final UnwatchedSpans unwatched;
    private final Budgets budgets;
    private final Callers callers;
    private final Clock clock;
    private final Snapshot snapshot;

    /** A download keeps a connection to the database until its client has read it. */
    private final Semaphore downloads = new Semaphore(MAX_DOWNLOADS);

    StatementController(
            Balances balances,
            StatementRepository repository,
            UnwatchedSpans unwatched,
            Budgets budgets,
            Callers callers,
            Clock clock,
            Snapshot snapshot) {
        this.balances = balances;
        this.repository = repository;
        this.unwatched = unwatched;
        this.budgets = budgets;
        this.callers = callers;
        this.clock = clock;
        this.snapshot = snapshot;
    }

    /**
     * A statement: opening + changes - used = closing, exactly, and the lines of all pages together
     * are used. Amounts are micro-GPU-seconds.
     *
     * @param opening what was left before anything that happened at {@code from}; absent if the
     *     budget was unlimited
     * @param closing what was left before anything that happened at {@code to}
     * @param namespaces used by namespace
     * @param unwatched spans that overlap it in which pods may have come and gone uncharged, latest
     *     first; absent if there are none
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Statement(
            String budget,
            Instant from,
            Instant to,
            @Nullable Long opening,
            @Nullable List<BalanceChange> changes,
            long used,
            @Nullable Long closing,
            @Nullable String openingMinutes,
            String usedMinutes,
            @Nullable String closingMinutes,
            TreeMap<String, Long> namespaces,
            @JsonInclude(JsonInclude.Include.NON_EMPTY) List<Unwatched> unwatched,
            List<StatementLine> lines) {

        static Statement of(
                String budget,
                Span span,
                Stretch stretch,
                List<Unwatched> unwatched,
                List<StatementLine> lines) {
            var statement = stretch.statement();
            GpuTime opening = statement == null ? null : statement.opening();
            GpuTime closing = statement == null ? null : statement.closing();
            return new Statement(
                    budget,
                    span.from(),
                    span.to(),
                    opening == null ? null : opening.microGpuSeconds(),
                    statement == null ? null : statement.changes(),
                    stretch.total().microGpuSeconds(),
                    closing == null ? null : closing.microGpuSeconds(),
                    opening == null ? null : opening.minutes(),
                    stretch.total().minutes(),
                    closing == null ? null : closing.minutes(),
                    stretch.byNamespace(),
                    unwatched,
                    lines);
        }
    }

    /**
     * Where the time went, by pod and hour. Pods of namespaces where who asks may not get pods have
     * neither uid nor name.
     *
     * @param from a whole second; the begin of the present period if absent
     * @param to a whole second; now if absent or later: {@code Link} keeps what that was
     * @param limit how many lines at most; a page with fewer is the last only without {@code Link}
     * @param after where the page before ended, from its header {@code Link}
     */
    @GetMapping(path = "/statement", produces = MediaType.APPLICATION_JSON_VALUE)
    ResponseEntity<Statement> statement(
            @PathVariable String budget,
            @RequestParam(required = false) @Nullable Instant from,
            @RequestParam(required = false) @Nullable Instant to,
            @RequestParam(defaultValue = "1000") int limit,
            @RequestParam(required = false) @Nullable String after,
            Authentication who) {
        Span span = span(budget, from, to);
        int size = Page.size(limit);
        Place place = after == null ? Place.START : Place.of(after);
        return snapshot.read(() -> {
            Stretch stretch = stretch(budget, span);
            Lines page = repository.lines(budget, span.from(), span.to(), place, size);
            List<StatementLine> lines = page.lines();
            var answer = ResponseEntity.ok();
            if (!page.last()) {
                answer.header(
                        HttpHeaders.LINK,
                        Page.next(
                                lines.getLast().place().cursor(),
                                Map.of("from", span.from(), "to", span.to())));
            }
            Set<String> shown =
                    callers.podsShown(
                            Callers.of(who), lines.stream().map(StatementLine::namespace).toList());
            return answer.body(
                    Statement.of(
                            budget,
                            span,
                            stretch,
                            unwatched.within(span.from(), span.to()),
                            lines.stream().map(line -> shownIn(shown, line)).toList()));
        });
    }

    /** The same for a spreadsheet, all lines at once: their amounts add up to the last one's. */
    @GetMapping(path = "/statement", produces = "text/csv")
    @ApiResponse(
            responseCode = "200",
            description =
                    "In CSV amounts are in GPU-minutes and in micro-GPU-seconds, negative where they were used",
            content = @Content(mediaType = "text/csv", schema = @Schema(type = "string")))
    void csv(
            @PathVariable String budget,
            @RequestParam(required = false) @Nullable Instant from,
            @RequestParam(required = false) @Nullable Instant to,
            Authentication who,
            HttpServletResponse response)
            throws IOException {
        Span span = span(budget, from, to);
        if (!downloads.tryAcquire()) {
            throw new ResponseStatusException(
                    HttpStatus.SERVICE_UNAVAILABLE,
                    "%d statements are being downloaded; try again when one is done"
                            .formatted(MAX_DOWNLOADS));
        }
        try {
            snapshot.read(() -> {
                // Before the first byte, so that there can still be another answer.
                Stretch stretch = stretch(budget, span);
                Set<String> shown =
                        callers.podsShown(Callers.of(who), stretch.byNamespace().keySet());
                try {
                    write(budget, span, stretch, shown, response);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        } finally {
            downloads.release();
        }
    }

    private void write(
            String budget,
            Span span,
            Stretch stretch,
            Set<String> shown,
            HttpServletResponse response)
            throws IOException {
        List<Unwatched> spans = unwatched.within(span.from(), span.to());
        response.setContentType("text/csv;charset=UTF-8");
        response.setHeader(
                HttpHeaders.CONTENT_DISPOSITION,
                "attachment; filename=\"%s.csv\"".formatted(budget));
        PrintWriter out = response.getWriter();
        var csv = new StatementCsv(out, budget);
        csv.begin(span, stretch.statement());
        // As all rows, by time.
        spans.reversed().forEach(csv::unwatched);
        Place place = Place.START;
        Lines page;
        do {
            page = repository.lines(budget, span.from(), span.to(), place, Page.MAX_SIZE);
            page.lines().forEach(line -> csv.line(shownIn(shown, line)));
            place = page.last() ? place : page.lines().getLast().place();
        } while (!page.last());
        csv.end(span, stretch.statement());
        out.flush();
    }

    private static StatementLine shownIn(Set<String> namespaces, StatementLine line) {
        return namespaces.contains(line.namespace()) ? line : line.withoutPod();
    }

    private Span span(String budget, @Nullable Instant from, @Nullable Instant to) {
        Instant now = clock.instant();
        Instant start =
                budgets.state(budget).map(state -> state.period().start()).orElse(Instant.EPOCH);
        return Span.of(from, to, start, now);
    }

    private Stretch stretch(String budget, Span span) {
        return balances.stretch(budget, span.from(), span.to())
                .orElseThrow(() -> unknown(budget, span.to()));
    }

    /** 404: there was no such budget then. */
    static ResponseStatusException unknown(String budget, Instant at) {
        return new ResponseStatusException(
                HttpStatus.NOT_FOUND,
                "No budget named %s was counted at or before %s".formatted(budget, at));
    }
}
