package io.gpusharing.webhook.admission;

import io.gpusharing.request.Verdict.Illegal;
import io.gpusharing.request.Violation;
import io.gpusharing.webhook.admission.Decision.Refused;

/** How an illegal request is explained. */
final class Refusals {

    private Refusals() {}

    /** Every violation at once, so that one edit mends the manifest. */
    static Refused of(Illegal illegal) {
        return new Refused(
                Refused.INVALID, illegal.violations().stream().map(Refusals::finding).toList());
    }

    private static Finding finding(Violation violation) {
        return new Finding(violation.rule().name(), violation.message());
    }
}
