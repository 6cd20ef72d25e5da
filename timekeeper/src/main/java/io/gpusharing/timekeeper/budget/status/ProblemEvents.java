package io.gpusharing.timekeeper.budget.status;

import io.fabric8.kubernetes.api.model.ObjectReferenceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.Names;
import io.gpusharing.budget.GpuBudgetStatus;
import io.gpusharing.budget.PublishedBudget;
import io.gpusharing.kubernetes.Events;
import io.gpusharing.kubernetes.Events.Text;
import io.gpusharing.kubernetes.GpuBudget;
import io.gpusharing.timekeeper.budget.account.BudgetState;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes an Event when a budget's status begins to say what keeps it from working as it is written.
 * The Event's name follows from its text, so that each is written once. One that cannot be written
 * is lost: the status goes on saying it.
 */
final class ProblemEvents {

    private static final Logger log = LoggerFactory.getLogger(ProblemEvents.class);

    private final Events events;

    ProblemEvents(KubernetesClient client) {
        this.events = new Events(client, Names.TIMEKEEPER);
    }

    /**
     * Writes one if the status says something else against the budget than the one before.
     *
     * @param before the status that stood there; null if there was none
     */
    void announce(
            BudgetState state,
            @Nullable GpuBudgetStatus before,
            GpuBudgetStatus status,
            Instant now) {
        String problem = status.problem();
        if (problem == null || (before != null && problem.equals(before.problem()))) {
            return;
        }
        try {
            events.write(
                    new ObjectReferenceBuilder()
                            .withApiVersion(GpuBudget.API_VERSION)
                            .withKind(GpuBudget.KIND)
                            .withName(state.name())
                            .withUid(state.uid())
                            .build(),
                    "problem-%x-%08x".formatted(state.generation(), problem.hashCode()),
                    new Text(Events.Type.Warning, reason(status), "Reading", problem),
                    now);
        } catch (KubernetesClientException e) {
            log.atWarn()
                    .addKeyValue("budget", state.name())
                    .addKeyValue("problem", e.getMessage())
                    .log("cannot write an Event about a budget");
        }
    }

    private static String reason(GpuBudgetStatus status) {
        boolean whole =
                PublishedBudget.MISSPELLED.equals(status.standing())
                        || PublishedBudget.INACTIVE.equals(status.standing());
        return whole ? "Budget" + status.standing() : "BudgetPartlyInactive";
    }
}
