package io.gpusharing.timekeeper.ledger.posting;

import java.time.Duration;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.stereotype.Component;

/**
 * Whether the ledger is being written. A database that is away does not count here, it is reported
 * elsewhere. If postings fail although it answers, the fault is ours and somebody has to look.
 */
@Component("posting")
class PostingHealthIndicator implements HealthIndicator {

    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private final LedgerWriter writer;

    PostingHealthIndicator(LedgerWriter writer) {
        this.writer = writer;
    }

    @Override
    public Health health() {
        Duration stuck = writer.stuck();
        return stuck.compareTo(PATIENCE) <= 0
                ? Health.up().build()
                : Health.down()
                        .withDetail(
                                "reason",
                                "nothing has been posted for %s although the database answers; the log says why"
                                        .formatted(stuck))
                        .build();
    }
}
