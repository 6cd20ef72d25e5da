package io.gpusharing.timekeeper.usage.intake;

import static io.gpusharing.timekeeper.usage.intake.Reports.NOON;
import static io.gpusharing.timekeeper.usage.intake.Reports.agent;
import static io.gpusharing.timekeeper.usage.intake.Reports.agentOn;
import static io.gpusharing.timekeeper.usage.intake.Reports.sidecar;
import static io.gpusharing.timekeeper.usage.intake.Reports.use;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.timekeeper.usage.UsageReport;
import io.gpusharing.timekeeper.usage.intake.Outcome.Accepted;
import io.gpusharing.timekeeper.usage.reporter.Reporter;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class CommitLanesTest {

    private static final int NODES = 20;

    private final Set<String> one = ConcurrentHashMap.newKeySet();
    private final Set<String> other = ConcurrentHashMap.newKeySet();

    private static GroupCommit lane(Set<String> nodes) {
        return new GroupCommit(
                batch -> {
                    batch.forEach(
                            delivery -> nodes.add(String.valueOf(delivery.reporter().node())));
                    return batch.stream().<Outcome>map(it -> new Accepted(false)).toList();
                },
                1_000,
                100,
                Duration.ofSeconds(30));
    }

    private static Delivery ofSidecar(String node) {
        UUID uid = UUID.randomUUID();
        var reporter = new Reporter("team-a/default", "team-a", "pod", uid, node);
        return delivery(reporter, sidecar(UUID.randomUUID(), 1, uid, use(1, 2)));
    }

    private static Delivery ofAgent(String node) {
        return delivery(agentOn(node), agent(UUID.randomUUID(), 1));
    }

    private static Delivery delivery(Reporter reporter, UsageReport report) {
        return new Delivery(reporter, report, report.digest(), Map.of(), NOON);
    }

    @Test
    void reportsOfANodeGoThroughOneLaneAndNodesThroughAll() {
        List<String> nodes = IntStream.range(0, NODES).mapToObj(i -> "node-" + i).toList();
        try (var lanes = new CommitLanes(List.of(lane(one), lane(other)))) {
            for (String node : nodes) {
                for (int i = 0; i < 3; i++) {
                    assertThat(lanes.submit(ofSidecar(node))).isInstanceOf(Accepted.class);
                    assertThat(lanes.submit(ofAgent(node))).isInstanceOf(Accepted.class);
                }
            }
        }

        assertThat(one).isNotEmpty().doesNotContainAnyElementsOf(other);
        assertThat(other).isNotEmpty();
        assertThat(one.size() + other.size()).isEqualTo(NODES);
    }
}
