package io.gpusharing.timekeeper.provider;

import io.gpusharing.timekeeper.budget.Budgets;
import io.gpusharing.timekeeper.cluster.EvictionApi;
import io.gpusharing.timekeeper.reclaim.EvictionReceipts.Receipt;
import io.gpusharing.timekeeper.reclaim.ReceiptSource;
import java.time.Instant;
import java.util.List;
import org.springframework.data.domain.Limit;
import org.springframework.stereotype.Component;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Writes down which pods are evicted because our device plugin did not let them start. */
@Component
class NotStartedEvictions implements ReceiptSource {

    private final NotStartedEvictionRepository rows;
    private final TransactionTemplate transaction;
    private final Budgets budgets;

    NotStartedEvictions(
            NotStartedEvictionRepository rows,
            PlatformTransactionManager transactions,
            Budgets budgets) {
        this.rows = rows;
        this.transaction = new TransactionTemplate(transactions);
        this.budgets = budgets;
    }

    /** To be written before the API server is asked. A pod has one, however often it is asked. */
    void plan(RefusedStart start, Instant now) {
        transaction.executeWithoutResult(status ->
                rows.of(start.pod())
                        .ifPresentOrElse(
                                it -> it.because(start),
                                () ->
                                        rows.save(
                                                new NotStartedEviction(
                                                        start, budgetName(start), now))));
    }

    /** Notes what the API server answered. */
    void record(RefusedStart start, EvictionApi.Answer answer) {
        transaction.executeWithoutResult(
                status -> rows.of(start.pod()).ifPresent(it -> it.answered(answer)));
    }

    /** The pod waits no more; see {@link NotStartedEviction#close}. */
    void close(RefusedStart start) {
        transaction.executeWithoutResult(
                status -> rows.of(start.pod()).ifPresent(NotStartedEviction::close));
    }

    /** A name with a slash is no budget: its namespace is unlimited. */
    private String budgetName(RefusedStart start) {
        return budgets.ofNamespace(start.namespace())
                .map(budget -> budget.name())
                .orElse("/" + start.namespace());
    }

    @Override
    public List<Receipt> receipts(Query query) {
        return rows
                .before(
                        query.before().at(),
                        query.before().number(),
                        query.before().victim(),
                        query.namespace(),
                        query.pod(),
                        Limit.of(query.size()))
                .stream()
                .map(NotStartedEviction::receipt)
                .toList();
    }
}
