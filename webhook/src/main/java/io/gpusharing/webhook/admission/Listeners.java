package io.gpusharing.webhook.admission;

import io.gpusharing.webhook.admission.Decision.Refused;
import io.gpusharing.webhook.events.Refusal;
import io.gpusharing.webhook.events.RefusalEvents;
import io.gpusharing.webhook.review.PodView;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What follows decisions besides the answer. */
final class Listeners {

    private static final Logger log = LoggerFactory.getLogger(Admission.class);

    private Listeners() {}

    /** All of them, in this order. */
    static Admission.Listener all(Admission.Listener... listeners) {
        return (question, review, decision) -> {
            for (Admission.Listener listener : listeners) {
                listener.decided(question, review, decision);
            }
        };
    }

    /** One line for each refusal. */
    static Admission.Listener logging() {
        return (question, review, decision) -> {
            if (decision instanceof Refused refused) {
                log.atInfo()
                        .addKeyValue("namespace", review.namespace())
                        .addKeyValue("kind", review.kind())
                        .addKeyValue("name", review.name())
                        .addKeyValue(
                                "rules", refused.findings().stream().map(Finding::rule).toList())
                        .addKeyValue("dryRun", review.dryRun())
                        .log("refused");
            }
        };
    }

    /** Events on the owners of refused pods, unless it is only a dry run. */
    static Admission.Listener telling(RefusalEvents events) {
        return (question, review, decision) -> {
            PodView pod = review.pod();
            if (decision instanceof Refused refused && !review.dryRun() && pod != null) {
                PodView.Owner owner = pod.metadata().controller();
                if (owner != null) {
                    events.submit(new Refusal(review.namespace(), owner, refused.message()));
                }
            }
        };
    }
}
