package io.gpusharing.timekeeper.budget.status;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.kubernetes.GpuBudget;
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.kubernetes.LedgerLease;
import io.gpusharing.kubernetes.LedgerLease.Word;
import io.gpusharing.kubernetes.Unreadable;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.cluster.PodFeed;
import io.gpusharing.timekeeper.ledger.posting.LedgerWriter;
import io.gpusharing.web.LeaderTask;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Component;

/**
 * Says up to when the ledger and the published budgets have caught up, in the {@link LedgerLease}.
 * While they do not, because the database is away, pods are not reported, or statuses cannot be
 * written, it says nothing, and the last word grows old.
 */
@Component
class LedgerWord extends LeaderTask {

    private static final Duration EVERY = Duration.ofSeconds(10);

    /** Until the first word of a term. */
    private static final Duration AT_FIRST = Duration.ofSeconds(1);

    private final KubernetesClient client;
    private final Budgets budgets;
    private final LedgerWriter writer;
    private final PodFeed pods;
    private final CatchUp catchUp;
    private final UnreadableObjects unreadable;
    private final String namespace;
    private final String identity;

    /** Whether the ledger writer has not come to our last question yet. */
    private volatile boolean asked;

    /** The instant of the last word of this term; null if there was none. */
    private @Nullable Instant said;

    LedgerWord(
            KubernetesClient client,
            Budgets budgets,
            LedgerWriter writer,
            PodFeed pods,
            CatchUp catchUp,
            UnreadableObjects unreadable,
            @Value("${gpusharing.cluster.namespace}") String namespace,
            @Value("${gpusharing.leadership.identity}") String identity,
            Leadership leadership,
            Clock clock) {
        super("ledger-word", leadership, clock);
        this.client = client;
        this.budgets = budgets;
        this.writer = writer;
        this.pods = pods;
        this.catchUp = catchUp;
        this.unreadable = unreadable;
        this.namespace = namespace;
        this.identity = identity;
    }

    @Override
    protected void takeOver() {
        said = null;
    }

    @Override
    protected Instant work(Instant now) {
        if (budgets.settled() && pods.isLive()) {
            ask(now);
            Word word = catchUp.word(now, unreadableBudgets()).orElse(null);
            if (word != null
                    && (said == null || word.caughtUp().isAfter(said))
                    && LedgerLease.write(client, namespace, identity, word, now)) {
                said = word.caughtUp();
            }
        }
        return now.plus(said == null ? AT_FIRST : EVERY);
    }

    /** Once the ledger writer comes to it, all that was reported before now is posted. */
    private void ask(Instant now) {
        if (!asked) {
            asked = true;
            writer.between(() -> {
                budgets.received(now);
                asked = false;
            });
        }
    }

    private Set<String> unreadableBudgets() {
        return unreadable.present().stream()
                .filter(object -> object.kind().equals(GpuBudget.KIND))
                .map(Unreadable::name)
                .collect(Collectors.toSet());
    }
}
