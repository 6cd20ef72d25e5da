package io.gpusharing.webhook.admission;

import io.gpusharing.webhook.decision.Decision.Refused;
import io.gpusharing.webhook.decision.Finding;
import io.gpusharing.webhook.events.Refusal;
import io.gpusharing.webhook.events.RefusalEvents;
import io.gpusharing.webhook.review.PodView;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What follows decisions besides the answer. */
final class DecisionListeners {

    private static final Logger LOGGER = LoggerFactory.getLogger(Admission.class);

    private DecisionListeners() {}

    /** All of them, in this order. */
    static Admission.Listener all(Admission.Listener... listeners) {
        return (type, review, decision) -> {
            for (Admission.Listener listener : listeners) {
                listener.decided(type, review, decision);
            }
        };
    }

    /** One line for each refusal. */
    static Admission.Listener log() {
        return (type, review, decision) -> {
            if (decision instanceof Refused refused) {
                LOGGER.atInfo()
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
    static Admission.Listener events(RefusalEvents publisher) {
        return (type, review, decision) -> {
            PodView pod = review.pod();
            if (decision instanceof Refused refused && !review.dryRun() && pod != null) {
                PodView.Owner owner = pod.metadata().controller();
                if (owner != null) {
                    publisher.submit(new Refusal(review.namespace(), owner, refused.message()));
                }
            }
        };
    }
}
