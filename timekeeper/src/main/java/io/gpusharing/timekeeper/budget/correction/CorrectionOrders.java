package io.gpusharing.timekeeper.budget.correction;

import io.gpusharing.request.GpuShare;
import io.gpusharing.timekeeper.budget.correction.CorrectionOutcome.Posted;
import io.gpusharing.timekeeper.budget.correction.CorrectionOutcome.Refused;
import io.gpusharing.timekeeper.budget.correction.CorrectionOutcome.Rule;
import io.gpusharing.timekeeper.ledger.correction.CorrectionOrder;
import io.gpusharing.timekeeper.ledger.correction.Corrections;
import io.gpusharing.timekeeper.ledger.correction.Corrections.Written;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.stream.Collectors;
import org.springframework.stereotype.Component;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Carries a {@code GpuCorrection} out by the rules of the ledger, once for each object: its UID
 * stands in the rows, so that who comes after a kill, or beside another one, finds them.
 */
@Component
class CorrectionOrders {

    /** Of those who share a name, which anybody may make many of. */
    private static final int MOST_NAMED = 10;

    private final Corrections corrections;
    private final TransactionTemplate transaction;

    CorrectionOrders(Corrections corrections, PlatformTransactionManager transactions) {
        this.corrections = corrections;
        this.transaction = new TransactionTemplate(transactions);
    }

    /** Writes it, or finds that it was written, or that it may not be. */
    CorrectionOutcome carryOut(OrderedCorrection it) {
        return Objects.requireNonNull(
                transaction.execute(status -> alreadyPosted(it).orElseGet(() -> toPod(it))));
    }

    private Optional<CorrectionOutcome> alreadyPosted(OrderedCorrection it) {
        List<Written> entries = corrections.ofObject(it.uid());
        return entries.isEmpty()
                ? Optional.empty()
                : Optional.of(
                        new Posted(Objects.requireNonNull(entries.getFirst().pod()), entries));
    }

    private CorrectionOutcome toPod(OrderedCorrection it) {
        String author = it.author();
        if (author == null || author.isEmpty()) {
            return new Refused(
                    Rule.AuthorUnknown,
                    "gpusharing.io/author does not say who made it: GPUSharing's webhook has not seen it; create it again");
        }
        List<UUID> pods =
                it.pod() != null
                        ? List.of(it.pod())
                        : corrections.pods(
                                it.namespace(), it.podName(), it.from(), it.to(), MOST_NAMED + 1);
        if (pods.size() > 1) {
            return new Refused(
                    Rule.SeveralPods,
                    "%s pods called %s held GPUs in that time: name one by its uid, for instance %s"
                            .formatted(
                                    pods.size() > MOST_NAMED
                                            ? "more than " + MOST_NAMED
                                            : String.valueOf(pods.size()),
                                    it.podText(),
                                    pods.stream()
                                            .limit(MOST_NAMED)
                                            .map(UUID::toString)
                                            .collect(Collectors.joining(", "))));
        }
        return pods.isEmpty() ? unknown(it) : write(it, pods.getFirst(), author);
    }

    private static Refused unknown(OrderedCorrection it) {
        return new Refused(
                Rule.PodUnknown,
                "No pod %s held a GPU between %s and %s"
                        .formatted(it.podText(), it.from(), it.to()));
    }

    private CorrectionOutcome write(OrderedCorrection it, UUID pod, String author) {
        Optional<Instant> posted = corrections.hold(pod);
        if (posted.isEmpty()) {
            return unknown(it);
        }
        // Of two leaders at once the second has waited for the first's commit.
        Optional<CorrectionOutcome> already = alreadyPosted(it);
        if (already.isPresent()) {
            return already.get();
        }
        if (it.to().isAfter(posted.get())) {
            return new Refused(
                    Rule.NotPosted,
                    "What pod %s cost is posted until %s; correct up to there, and the rest when it is posted"
                            .formatted(it.podText(), posted.get()));
        }
        var order = new CorrectionOrder(pod, it.budget(), it.from(), it.to(), it.rate());
        OptionalLong held = corrections.lowestRate(order);
        if (held.isEmpty()) {
            return new Refused(
                    Rule.BudgetPaidNothing,
                    "Budget %s was charged nothing for pod %s between %s and %s"
                            .formatted(it.budget(), it.podText(), it.from(), it.to()));
        }
        if (it.rate() > held.getAsLong()) {
            return new Refused(
                    Rule.MoreThanHeld,
                    "Pod %s was charged for %s GPUs (rate %d) in a part of that time, and nobody is charged for more than was held: it cannot be %s (rate %d)"
                            .formatted(
                                    it.podText(),
                                    GpuShare.inGpus(held.getAsLong()),
                                    held.getAsLong(),
                                    GpuShare.inGpus(it.rate()),
                                    it.rate()));
        }
        List<Written> entries = corrections.write(order, it.reason(), author, it.uid());
        return entries.isEmpty()
                ? new Refused(
                        Rule.NothingDiffers,
                        "Nothing to correct: budget %s is charged just that for pod %s between %s and %s"
                                .formatted(it.budget(), it.podText(), it.from(), it.to()))
                : new Posted(pod, entries);
    }
}
