package io.gpusharing.e2e.story;

import static org.awaitility.Awaitility.await;

import io.gpusharing.e2e.cluster.TestCluster;
import io.gpusharing.e2e.installation.Installation;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;

/**
 * Ends the timekeeper and its database as crashes do, and starts them again as kubelet does. What
 * the ledger then says is compared with the recount.
 */
final class Crashes {

    private final TestCluster cluster;
    private final Installation installation;
    private final Ledger ledger;
    private int restarts;

    enum Target {
        TIMEKEEPER,
        DATABASE,
        BOTH;

        static Target any(RandomGenerator random) {
            return values()[random.nextInt(values().length)];
        }
    }

    Crashes(TestCluster cluster, Installation installation, Ledger ledger) {
        this.cluster = cluster;
        this.installation = installation;
        this.ledger = ledger;
    }

    /** Whatever it is doing: serving, starting, or starting the database again. */
    void kill(Target target) {
        if (target != Target.TIMEKEEPER) {
            installation.database().kill();
        }
        if (target != Target.DATABASE) {
            installation.timekeeper().program().kill();
        }
    }

    /** As kubelet does, also when it ended by itself. */
    void restartIfEnded() {
        installation.database().restartIfEnded();
        if (!installation.timekeeper().program().runs()) {
            installation.timekeeper().restart();
            restarts++;
        }
    }

    /** How often the timekeeper was started again. */
    int restarts() {
        return restarts;
    }

    void awaitTimekeeper() {
        await("the timekeeper is back")
                .atMost(Duration.ofMinutes(2))
                .pollInterval(Duration.ofMillis(200))
                .until(() -> {
                    restartIfEnded();
                    return installation.timekeeper().ready();
                });
    }

    void awaitAllEnds() {
        await("every end is in the ledger")
                .atMost(Duration.ofSeconds(90))
                .ignoreExceptions()
                .until(() -> noPods() && ledger.open() == 0);
    }

    private boolean noPods() {
        return cluster.client()
                .pods()
                .inAnyNamespace()
                .withLabel("gpusharing.io/metered", "true")
                .list()
                .getItems()
                .isEmpty();
    }

    /** Pods that are billed otherwise than the audit log says, although their ends were seen. */
    List<Ledger.Difference> differences() {
        Set<String> estimated = ledger.estimatedPods();
        boolean lost = historyWasLost();
        return ledger.differences().stream()
                // It came and went, or went, while nobody watched: see below.
                .filter(it -> !(lost && it.ledger() == 0))
                .filter(it -> !estimated.contains(it.pod()))
                .toList();
    }

    /**
     * An API server keeps the last 75 seconds of changes at least; a timekeeper that took longer to
     * come back, on a busy machine, must estimate, and says so.
     */
    boolean historyWasLost() {
        try {
            return Files.readString(cluster.dir().resolve("logs/timekeeper.log"))
                    .contains("too old resource version");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
