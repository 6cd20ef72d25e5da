package io.gpusharing.timekeeper.testing;

import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.TransientDataAccessResourceException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.support.TransactionCallback;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Transactions of a database that goes away now and then: before anything is written, before the
 * commit, or after it, so that its answer is lost. Now and then it picks one as the victim of a
 * deadlock or of a serialization failure, as PostgreSQL itself says it.
 */
public final class FlakyTransactions extends TransactionTemplate {

    private static final long serialVersionUID = 1L;

    private final JdbcClient jdbc;
    private final Random random;
    private final double chance;

    public FlakyTransactions(TestDatabase database, Random random, double chance) {
        super(database.transactions());
        this.jdbc = database.jdbc();
        this.random = random;
        this.chance = chance;
    }

    @Override
    public <T extends @Nullable Object> T execute(TransactionCallback<T> action)
            throws TransactionException {
        failSometimes("before the transaction");
        T result =
                super.execute(status -> {
                    T done = action.doInTransaction(status);
                    pickAsVictimSometimes();
                    failSometimes("before the commit");
                    return done;
                });
        failSometimes("after the commit");
        return result;
    }

    private void pickAsVictimSometimes() {
        if (random.nextDouble() < chance) {
            jdbc.sql(
                            "do $$ begin raise exception 'injected' using errcode = '%s'; end $$"
                                    .formatted(random.nextBoolean() ? "40001" : "40P01"))
                    .update();
        }
    }

    private void failSometimes(String when) {
        if (random.nextDouble() < chance) {
            throw new TransientDataAccessResourceException("the database went away " + when);
        }
    }
}
