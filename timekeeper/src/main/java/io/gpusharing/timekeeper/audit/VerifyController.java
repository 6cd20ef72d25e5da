package io.gpusharing.timekeeper.audit;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Whether the ledger is sound. */
@RestController
class VerifyController {

    private final Verification verification;

    VerifyController(Verification verification) {
        this.verification = verification;
    }

    /** Recomputes everything that is stored beside the entries; every difference is shown. */
    @GetMapping("/api/v1/verify")
    Verification.Report verify() {
        return verification.run();
    }
}
