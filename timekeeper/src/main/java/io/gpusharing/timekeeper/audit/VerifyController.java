package io.gpusharing.timekeeper.audit;

import io.gpusharing.kubernetes.UnreadableObjects;
import java.time.Clock;
import java.time.Duration;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** Whether the ledger is sound. */
@RestController
class VerifyController {

    private final VerificationRepository verifications;
    private final UnreadableObjects unreadable;
    private final Clock clock;

    VerifyController(
            VerificationRepository verifications, UnreadableObjects unreadable, Clock clock) {
        this.verifications = verifications;
        this.unreadable = unreadable;
        this.clock = clock;
    }

    /**
     * What the last hourly verification found: at once, however large the ledger is. {@code at} and
     * the header {@code Age} (seconds) say how old it is. What cannot be read is as this replica
     * sees it now.
     */
    @GetMapping("/api/v1/verify")
    ResponseEntity<Verification.Report> verify() {
        Verification.Report last =
                verifications
                        .read()
                        .orElseThrow(() ->
                                new ResponseStatusException(
                                        HttpStatus.NOT_FOUND, VerificationRepository.NONE_YET));
        long age = Math.max(0, Duration.between(last.at(), clock.instant()).toSeconds());
        return ResponseEntity.ok()
                .header(HttpHeaders.AGE, String.valueOf(age))
                .body(last.beside(UnreadableKind.of(unreadable.present())));
    }
}
