package io.gpusharing.e2e.story;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpusharing.e2e.cluster.Repository;
import io.gpusharing.e2e.cluster.TestCluster;
import io.gpusharing.e2e.installation.InClusterInstallation;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The demo's story, told by real containers on real nodes, and afterwards its bill. */
@Tag("node")
class NodeStoryIT {

    @Test
    void realContainersTellTheStoryAndAreChargedToTheSecond() {
        try (TestCluster cluster =
                TestCluster.start(Repository.root().resolve(".run/node/cluster"))) {
            try {
                var services = InClusterInstallation.on(cluster);
                new Story(cluster, services, Narrator.silent()).whole();
                for (String team : new String[] {"team-a", "team-b"}) {
                    cluster.kubectl()
                            .run("delete", "pods", "--all", "--namespace=" + team)
                            .orFail();
                }
                Ledger ledger = Ledger.bundled(cluster);
                await("every pod's end is in the ledger")
                        .atMost(Duration.ofSeconds(30))
                        .until(() -> ledger.open() == 0);

                assertThat(ledger.differences()).isEmpty();
                assertThat(ledger.total()).as("micro-GPU-seconds in all").isPositive();
                assertThat(ledger.estimated()).isZero();
            } finally {
                cluster.saveLogs(Repository.root().resolve("e2e/target/logs/node-story"));
            }
        }
    }
}
