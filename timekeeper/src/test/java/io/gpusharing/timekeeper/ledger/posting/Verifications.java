package io.gpusharing.timekeeper.ledger.posting;

import io.gpusharing.timekeeper.audit.Recomputation;
import io.gpusharing.timekeeper.audit.Verification;
import io.gpusharing.timekeeper.testing.TestDatabase;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/** Verifications for tests, in one transaction each, as Spring runs them. */
public final class Verifications {

    private Verifications() {}

    public static Verification on(TestDatabase database, List<Recomputation> others) {
        var transaction = new TransactionTemplate(database.transactions());
        transaction.setIsolationLevel(TransactionDefinition.ISOLATION_REPEATABLE_READ);
        return new Verification(database.rows(), others) {
            @Override
            public Report run(int most) {
                return Objects.requireNonNull(transaction.execute(status -> super.run(most)));
            }

            @Override
            public Report runSince(Instant sound) {
                return Objects.requireNonNull(transaction.execute(status -> super.runSince(sound)));
            }
        };
    }
}
