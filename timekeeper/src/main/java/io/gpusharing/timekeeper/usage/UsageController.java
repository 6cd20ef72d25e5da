package io.gpusharing.timekeeper.usage;

import io.gpusharing.timekeeper.usage.Outcome.Accepted;
import io.gpusharing.timekeeper.usage.Outcome.Duplicate;
import io.gpusharing.timekeeper.usage.Outcome.Refusal;
import io.gpusharing.timekeeper.usage.Outcome.Refused;
import io.gpusharing.timekeeper.usage.Outcome.Unavailable;
import io.gpusharing.timekeeper.usage.ReportReader.MalformedReportException;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.time.Clock;
import java.util.Map;
import java.util.Optional;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** {@code POST /api/v1/usage}: takes reports, and answers when they are durable. */
@RestController
class UsageController {

    private final ReportReader reader = new ReportReader();
    private final Doorkeeper doorkeeper;
    private final Pods pods;
    private final GroupCommit commits;
    private final TrustBundle authority;
    private final UnaskedUse unaskedUse;
    private final UsageMetrics metrics;
    private final UsageProperties properties;
    private final Clock clock;

    UsageController(
            Doorkeeper doorkeeper,
            Pods pods,
            GroupCommit commits,
            TrustBundle authority,
            UnaskedUse unaskedUse,
            UsageMetrics metrics,
            UsageProperties properties,
            Clock clock) {
        this.doorkeeper = doorkeeper;
        this.pods = pods;
        this.commits = commits;
        this.authority = authority;
        this.unaskedUse = unaskedUse;
        this.metrics = metrics;
        this.properties = properties;
        this.clock = clock;
    }

    @PostMapping(UsageSecurity.PATH)
    ResponseEntity<?> report(ReporterAuthentication who, HttpServletRequest request)
            throws IOException {
        Outcome outcome = take(who.getPrincipal(), request);
        metrics.count(outcome);
        return answer(outcome);
    }

    private Outcome take(Reporter reporter, HttpServletRequest request) throws IOException {
        Optional<byte[]> body = body(request);
        if (body.isEmpty()) {
            return new Refused(
                    Refusal.TOO_LARGE,
                    "a report has %s at most".formatted(properties.maxReportSize()));
        }
        UsageReport report;
        try {
            report = reader.read(body.get());
        } catch (MalformedReportException e) {
            return new Refused(Refusal.MALFORMED, String.valueOf(e.getMessage()));
        }
        return switch (doorkeeper.judge(
                reporter, report, pods::find, pods.known(), clock.instant())) {
            case Doorkeeper.Entry.Admitted(Delivery delivery) -> {
                unaskedUse.note(delivery);
                yield commits.submit(delivery);
            }
            case Doorkeeper.Entry.Rejected rejected -> rejected.outcome();
        };
    }

    private Optional<byte[]> body(HttpServletRequest request) throws IOException {
        int most = Math.toIntExact(properties.maxReportSize().toBytes());
        if (request.getContentLengthLong() > most) {
            return Optional.empty();
        }
        byte[] body = request.getInputStream().readNBytes(most + 1);
        return body.length > most ? Optional.empty() : Optional.of(body);
    }

    private ResponseEntity<?> answer(Outcome outcome) {
        return switch (outcome) {
            case Accepted accepted -> taken("Accepted", accepted.heartbeatIsEnough());
            case Duplicate duplicate -> taken("Duplicate", duplicate.heartbeatIsEnough());
            case Refused refused -> problem(refused.refusal().status(), refused.detail());
            case Unavailable unavailable -> problem(503, unavailable.detail());
        };
    }

    private ResponseEntity<?> taken(String result, boolean heartbeat) {
        return ResponseEntity.ok()
                .contentType(MediaType.APPLICATION_JSON)
                .body(
                        Map.of(
                                "result",
                                result,
                                "mode",
                                heartbeat ? "Heartbeat" : "Full",
                                "ca",
                                authority.pem()));
    }

    private ResponseEntity<?> problem(int status, String detail) {
        var response =
                ResponseEntity.status(status).contentType(MediaType.APPLICATION_PROBLEM_JSON);
        if (status == HttpStatus.SERVICE_UNAVAILABLE.value()) {
            response.header(
                    HttpHeaders.RETRY_AFTER, Long.toString(properties.retryAfter().toSeconds()));
        }
        return response.body(ProblemDetail.forStatusAndDetail(HttpStatus.valueOf(status), detail));
    }
}
