package io.gpusharing.timekeeper.budget.correction;

import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.kubernetes.GpuCorrection;
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.timekeeper.budget.AppliedStatus;
import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.ledger.posting.LedgerWriter;
import io.gpusharing.web.LeaderTask;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/**
 * Has {@code GpuCorrection} objects written, and says in their status what became of them. One that
 * fails keeps none waiting but those of the same pod and budget, and is tried again.
 *
 * <p>It works beside the ledger's thread, which no number of objects holds up: an end of a pod that
 * is posted at the same time is drawn up anew, see {@link
 * io.gpusharing.timekeeper.ledger.correction.Corrections#write}.
 */
@Component
class Corrector extends LeaderTask {

    private static final Logger log = LoggerFactory.getLogger(Corrector.class);

    /** Not found, conflict, and what the definition does not let be said any more. */
    private static final Set<Integer> GONE = Set.of(404, 409, 422);

    private static final Duration AGAIN = Duration.ofSeconds(1);

    private final KubernetesClient client;
    private final CorrectionWatch watch;
    private final CorrectionOrders orders;
    private final Budgets budgets;
    private final LedgerWriter writer;

    /** Names of those that could not be carried out lately: logged once. */
    private final Set<String> failing = new HashSet<>();

    Corrector(
            KubernetesClient client,
            CorrectionWatch watch,
            CorrectionOrders orders,
            Budgets budgets,
            LedgerWriter writer,
            Leadership leadership,
            Clock clock) {
        super("corrections", leadership, clock);
        this.client = client;
        this.watch = watch;
        this.orders = orders;
        this.budgets = budgets;
        this.writer = writer;
        watch.listen(this::trigger);
    }

    @Override
    protected @Nullable Instant work(Instant now) {
        if (!watch.isKnown()) {
            // An earlier one may not be known yet.
            return now.plus(AGAIN);
        }
        List<OrderedCorrection> pending = watch.pending();
        failing.retainAll(pending.stream().map(OrderedCorrection::name).toList());
        Set<String> failed = new HashSet<>();
        for (OrderedCorrection it : pending) {
            if (!leads()) {
                return now;
            }
            boolean withdrawn = !it.equals(watch.get(it.name()));
            String whose = it.budget() + "/" + it.podText();
            if (!withdrawn && !failed.contains(whose)) {
                CorrectionOutcome outcome = carriedOut(it);
                if (outcome == null) {
                    // The later one is to stand.
                    failed.add(whose);
                } else if (told(it, outcome)) {
                    failing.remove(it.name());
                }
            }
        }
        return pending.isEmpty() ? null : now.plus(AGAIN);
    }

    private @Nullable CorrectionOutcome carriedOut(OrderedCorrection it) {
        CorrectionOutcome outcome = null;
        try {
            outcome = orders.carryOut(it);
            return outcome;
        } catch (RuntimeException e) {
            failed(it, e);
            return null;
        } finally {
            // Also after a failure: it may have come after the commit.
            if (!(outcome instanceof CorrectionOutcome.Refused)) {
                writer.between(() -> budgets.corrected(it.budget()));
            }
        }
    }

    /** Says it of this very object: another one of its name has an outcome of its own. */
    private boolean told(OrderedCorrection it, CorrectionOutcome outcome) {
        try {
            AppliedStatus.write(
                    client,
                    GpuCorrection.KIND,
                    new ObjectMetaBuilder()
                            .withName(it.name())
                            .withUid(it.uid().toString())
                            .build(),
                    outcome.status());
            return true;
        } catch (KubernetesClientException e) {
            // It was deleted, or is another one of its name, or says already that it is written.
            if (GONE.contains(e.getCode())) {
                return true;
            }
            failed(it, e);
            return false;
        }
    }

    private void failed(OrderedCorrection it, RuntimeException e) {
        if (failing.add(it.name())) {
            log.atWarn()
                    .setCause(e)
                    .addKeyValue("correction", it.name())
                    .log("cannot correct, or say so, trying again");
        }
    }
}
