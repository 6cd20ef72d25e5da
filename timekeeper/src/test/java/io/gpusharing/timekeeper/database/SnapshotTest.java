package io.gpusharing.timekeeper.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpusharing.timekeeper.testing.TestDatabase;
import org.junit.jupiter.api.Test;
import org.springframework.dao.DataAccessException;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

class SnapshotTest {

    private final TestDatabase database = TestDatabase.create();
    private final Snapshot snapshot = new Snapshot(database.jdbc(), database.entityTransactions());

    private long clusters() {
        return database.jdbc().sql("select count(*) from cluster").query(Long.class).single();
    }

    private void add() {
        database.jdbc().sql("insert into cluster values (gen_random_uuid()::text, now())").update();
    }

    private void somebodyElseAdds() {
        var other = new TransactionTemplate(database.entityTransactions());
        other.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
        other.executeWithoutResult(status -> add());
    }

    @Test
    void aConcurrentCommitIsSeenByTheNextReadOnly() {
        snapshot.read(() -> {
            assertThat(clusters()).isZero();
            somebodyElseAdds();
            assertThat(clusters()).isZero();
            assertThat(snapshot.read(this::clusters)).as("a reading within").isZero();
        });

        assertThat(snapshot.read(this::clusters)).isOne();
    }

    @Test
    void aReadingChangesNothing() {
        assertThatThrownBy(() -> snapshot.read(this::add)).isInstanceOf(DataAccessException.class);

        assertThat(clusters()).isZero();
    }
}
