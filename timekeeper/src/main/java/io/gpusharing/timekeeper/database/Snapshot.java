package io.gpusharing.timekeeper.database;

import java.util.function.Supplier;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Questions that are answered from one state of the database, and change nothing. */
@Component
public class Snapshot {

    /** For a download, the time in which it has to be read. */
    private static final int SECONDS = 60;

    // The driver would ask which level there is, set another, and set it back: three journeys more.
    // To plan a question for all months there are takes five times as long as its answer, so it is
    // planned once.
    private static final String BEGIN =
            """
            set transaction isolation level repeatable read;
            set local plan_cache_mode = force_generic_plan
            """;

    private final JdbcClient jdbc;
    private final TransactionTemplate transaction;

    public Snapshot(JdbcClient jdbc, PlatformTransactionManager transactions) {
        this.jdbc = jdbc;
        this.transaction = new TransactionTemplate(transactions);
        transaction.setReadOnly(true);
        transaction.setTimeout(SECONDS);
    }

    /** Reads what is asked; within another reading, from the same state. */
    public <T> T read(Supplier<T> questions) {
        return transaction.execute(status -> {
            if (status.isNewTransaction()) {
                jdbc.sql(BEGIN).update();
            }
            return questions.get();
        });
    }

    /** The same for what gives no answer of its own. */
    public void read(Runnable questions) {
        read(() -> {
            questions.run();
            return true;
        });
    }
}
