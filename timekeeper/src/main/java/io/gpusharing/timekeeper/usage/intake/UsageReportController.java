package io.gpusharing.timekeeper.usage.intake;

import io.gpusharing.timekeeper.usage.UsageProperties;
import io.gpusharing.timekeeper.usage.UsageReport;
import io.gpusharing.timekeeper.usage.intake.Outcome.Accepted;
import io.gpusharing.timekeeper.usage.intake.Outcome.Duplicate;
import io.gpusharing.timekeeper.usage.intake.Outcome.Refusal;
import io.gpusharing.timekeeper.usage.intake.Outcome.Refused;
import io.gpusharing.timekeeper.usage.intake.Outcome.Unavailable;
import io.gpusharing.timekeeper.usage.intake.ReportReader.MalformedReportException;
import io.gpusharing.timekeeper.usage.reporter.Pods;
import io.gpusharing.timekeeper.usage.reporter.Reporter;
import io.gpusharing.timekeeper.usage.reporter.UsageSecurity;
import io.gpusharing.timekeeper.web.HeapShares;
import io.gpusharing.timekeeper.web.TrustBundle;
import io.gpusharing.web.RequestBodyLimit;
import io.gpusharing.web.RequestBodyLimit.Body;
import io.gpusharing.web.RequestBodyLimit.Place;
import io.swagger.v3.oas.annotations.Operation;
import io.swagger.v3.oas.annotations.media.Content;
import io.swagger.v3.oas.annotations.media.Schema;
import io.swagger.v3.oas.annotations.parameters.RequestBody;
import io.swagger.v3.oas.annotations.responses.ApiResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.URI;
import java.time.Clock;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.security.core.annotation.AuthenticationPrincipal;
import org.springframework.util.unit.DataSize;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import tools.jackson.databind.json.JsonMapper;

/** {@code POST /api/v1/usage}: takes reports, and answers when they are durable. */
@RestController
class UsageReportController {

    private static final JsonMapper JSON = new JsonMapper();

    /** Asks the meter to begin another run of counters. */
    private static final URI RUN_REFUSED = URI.create("urn:gpusharing:problem:run-refused");

    /** What a report that is taken is answered. */
    private record Taken(String result, String mode, String ca) {}

    private final ReportReader reader = new ReportReader();
    private final ReportAuthorizer authorizer;
    private final Pods pods;
    private final CommitLanes commits;
    private final TrustBundle authority;
    private final AgentFindings agentFindings;
    private final ProcessReports processes;
    private final RefusalNotices refusals;
    private final UsageMetrics metrics;
    private final UsageProperties properties;
    private final Clock clock;
    private final RequestBodyLimit bodies;
    private final Semaphore work;
    private final DataSize mostOfAny;

    UsageReportController(
            ReportAuthorizer authorizer,
            Pods pods,
            CommitLanes commits,
            TrustBundle authority,
            AgentFindings agentFindings,
            ProcessReports processes,
            RefusalNotices refusals,
            UsageMetrics metrics,
            UsageProperties properties,
            Clock clock) {
        this.authorizer = authorizer;
        this.pods = pods;
        this.commits = commits;
        this.authority = authority;
        this.agentFindings = agentFindings;
        this.processes = processes;
        this.refusals = refusals;
        this.metrics = metrics;
        this.properties = properties;
        this.clock = clock;
        HeapShares heap = HeapShares.ofThisProcess();
        this.bodies =
                new RequestBodyLimit(
                        DataSize.ofBytes(heap.reports()), properties.maxReading(), clock);
        this.work = new Semaphore(heap.reportWork(), true);
        this.mostOfAny = DataSize.ofBytes(heap.largestReport());
    }

    /** Null where the answer is written already, as it is for every report that is taken. */
    @PostMapping(UsageSecurity.PATH)
    @Operation(
            description =
                    "For meters, with their pod-bound tokens; docs/reference.md has the report",
            requestBody =
                    @RequestBody(
                            required = true,
                            content =
                                    @Content(
                                            mediaType = MediaType.APPLICATION_JSON_VALUE,
                                            schema = @Schema(type = "object"))))
    @ApiResponse(
            responseCode = "200",
            content = @Content(schema = @Schema(implementation = Taken.class)))
    @ApiResponse(responseCode = "409", description = "The run reported something else before")
    @ApiResponse(responseCode = "413", description = "The report is too large")
    @ApiResponse(responseCode = "429", description = "The meter has begun too often")
    @Nullable ResponseEntity<?> report(
            @AuthenticationPrincipal Reporter reporter,
            HttpServletRequest request,
            HttpServletResponse response)
            throws IOException {
        Outcome outcome = take(reporter, request);
        metrics.count(outcome);
        refusals.note(reporter, outcome, clock.instant());
        return answer(outcome, response);
    }

    private Outcome take(Reporter reporter, HttpServletRequest request) throws IOException {
        DataSize allowed =
                authorizer.isAgent(reporter)
                        ? properties.maxReportSize()
                        : properties.maxSidecarReportSize();
        // What is made of a larger one is more than the heap has for it.
        DataSize most = allowed.compareTo(mostOfAny) < 0 ? allowed : mostOfAny;
        long length = request.getContentLengthLong();
        if (length > most.toBytes()) {
            return tooLarge(most);
        }
        int size = Math.toIntExact(length < 0 ? most.toBytes() : length);
        // Until it is answered: what was read of it is in memory as long.
        try (Place place = bodies.enter(size)) {
            if (place == null) {
                return new Unavailable("too many reports are being read");
            }
            return switch (place.read(request.getInputStream())) {
                case Body.TooLarge large -> tooLarge(most);
                case Body.TooSlow slow ->
                        new Refused(
                                Refusal.TOO_SLOW,
                                "a report has to come within " + properties.maxReading());
                case Body.Read(byte[] bytes) -> take(reporter, bytes);
            };
        }
    }

    private static Outcome tooLarge(DataSize most) {
        return new Refused(Refusal.TOO_LARGE, "a report has %s at most".formatted(most));
    }

    private Outcome take(Reporter reporter, byte[] body) {
        UsageReport report;
        try {
            report = read(body);
        } catch (MalformedReportException e) {
            return new Refused(Refusal.MALFORMED, String.valueOf(e.getMessage()));
        }
        return switch (authorizer.judge(reporter, report, pods, clock.instant())) {
            case ReportAuthorizer.Entry.Admitted(Delivery delivery) -> {
                agentFindings.note(delivery);
                processes.note(delivery);
                yield commits.submit(delivery);
            }
            case ReportAuthorizer.Entry.Rejected rejected -> rejected.outcome();
        };
    }

    /** Not all at once: what is made of a report takes its memory first. */
    private UsageReport read(byte[] body) throws MalformedReportException {
        int bytes = body.length * HeapShares.WEIGHT_OF_A_REPORT;
        work.acquireUninterruptibly(bytes);
        try {
            return reader.read(body);
        } finally {
            work.release(bytes);
        }
    }

    private @Nullable ResponseEntity<?> answer(Outcome outcome, HttpServletResponse response)
            throws IOException {
        return switch (outcome) {
            case Accepted accepted -> taken("Accepted", accepted.heartbeatIsEnough(), response);
            case Duplicate duplicate -> taken("Duplicate", duplicate.heartbeatIsEnough(), response);
            case Refused refused -> problem(refused);
            case Unavailable unavailable ->
                    problem(
                            ProblemDetail.forStatusAndDetail(
                                    HttpStatus.SERVICE_UNAVAILABLE, unavailable.detail()));
        };
    }

    /** With its length and not flushed: head and body leave as one record. */
    private @Nullable ResponseEntity<?> taken(
            String result, boolean heartbeat, HttpServletResponse response) throws IOException {
        byte[] body =
                JSON.writeValueAsBytes(
                        new Taken(result, heartbeat ? "Heartbeat" : "Full", authority.pem()));
        response.setContentType(MediaType.APPLICATION_JSON_VALUE);
        response.setContentLength(body.length);
        response.getOutputStream().write(body);
        return null;
    }

    private ResponseEntity<?> problem(Refused refused) {
        HttpStatus status = HttpStatus.valueOf(refused.refusal().status());
        ProblemDetail problem = ProblemDetail.forStatusAndDetail(status, refused.detail());
        if (refused.refusal().endsTheRun()) {
            problem.setType(RUN_REFUSED);
        }
        return problem(problem);
    }

    private ResponseEntity<?> problem(ProblemDetail problem) {
        int status = problem.getStatus();
        var response =
                ResponseEntity.status(status).contentType(MediaType.APPLICATION_PROBLEM_JSON);
        if (status == HttpStatus.SERVICE_UNAVAILABLE.value()
                || status == HttpStatus.TOO_MANY_REQUESTS.value()) {
            response.header(
                    HttpHeaders.RETRY_AFTER, Long.toString(properties.retryAfter().toSeconds()));
        }
        return response.body(problem);
    }
}
