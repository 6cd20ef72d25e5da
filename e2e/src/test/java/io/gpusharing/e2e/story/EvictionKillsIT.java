package io.gpusharing.e2e.story;

import static io.gpusharing.e2e.story.EvictingCluster.soon;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpusharing.e2e.admission.Api;
import io.gpusharing.e2e.cluster.Program;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Kills what evicts, and the timekeeper, at random points while pods are preempted, reclaimed and
 * evicted because they cannot start or hold too much memory. Each of them has exactly one receipt
 * of its end, and whoever stayed has none.
 *
 * <p>Settable: {@code -Devictions.seed}, {@code -Devictions.rounds} (of five victims each), {@code
 * -Devictions.pause} (longest between two kills, in milliseconds), {@code -Devictions.result} (a
 * file for the counts, which {@code benchmarks/soak/evictions} keeps).
 */
@Tag("chaos")
class EvictionKillsIT {

    private static final long SEED = Long.getLong("evictions.seed", System.nanoTime());
    private static final int ROUNDS = Integer.getInteger("evictions.rounds", 3);
    private static final int LONGEST_PAUSE = Integer.getInteger("evictions.pause", 15_000);

    /**
     * In each round at most: where programs start slowly, more would leave them no time to work.
     */
    private static final int KILLS = 8;

    private static final Duration AMID_KILLS =
            EvictingCluster.SOON.plusMillis((long) KILLS * LONGEST_PAUSE);

    private static final Set<String> ENDED = Set.of("Evicted", "Deleted", "Preempted");
    private static final String CANNOT_START = "cannot-start";
    private static final String LATE = "late";

    /** Of the team in budget, so it goes for no other reason. */
    private static final String GREEDY = "greedy";

    private static final List<String> VICTIMS = List.of("holds-1", "holds-2", CANNOT_START, LATE);
    private static final List<String> WAITERS = List.of("first", "second", "third", "fourth");
    private static final String SPENDERS = "spenders-";
    private static final String TEAM = "team-";

    private static EvictingCluster cluster;

    private final SplittableRandom random = new SplittableRandom(SEED);
    private final AtomicInteger kills = new AtomicInteger();

    @BeforeAll
    static void start() {
        System.out.printf("evictions.seed=%d evictions.rounds=%d%n", SEED, ROUNDS);
        cluster = EvictingCluster.start("eviction-kills");
    }

    @AfterAll
    static void end() {
        cluster.close();
    }

    @Test
    void noKillLosesOrRepeatsAReceipt() throws IOException {
        var rounds = IntStream.rangeClosed(1, ROUNDS).mapToObj(Integer::toString).toList();
        for (String round : rounds) {
            String spenders = SPENDERS + round;
            String team = TEAM + round;
            cluster.team(spenders, "0.1");
            cluster.team(team, "10000");
            occupyAllGpus(spenders, team);

            int most = kills.get() + KILLS;
            try (var steps = new Steps("kills", this::pause, () -> killOne(most))) {
                steps.start();
                takeThem(spenders, team);
            }
            restartEnded();

            soon("each of them has a receipt")
                    .untilAsserted(() -> {
                        assertThat(ended(spenders)).containsAll(VICTIMS);
                        assertThat(ended(team)).contains(GREEDY);
                    });
            cluster.api().delete("/api/v1/namespaces/%s/pods".formatted(team)).orFail();
            soon("its pods are gone").until(() -> podsOf(team).isEmpty());
        }
        everyEndHasOneReceipt(rounds);
    }

    private void everyEndHasOneReceipt(List<String> rounds) throws IOException {
        var causes = new TreeMap<String, Integer>();
        int evicted = 0;
        for (String round : rounds) {
            assertThat(ended(SPENDERS + round))
                    .as("evictions.seed=%d", SEED)
                    .containsExactlyInAnyOrderElementsOf(VICTIMS);
            assertThat(ended(TEAM + round)).as("evictions.seed=%d", SEED).containsExactly(GREEDY);
            for (String namespace : List.of(SPENDERS + round, TEAM + round)) {
                for (JsonNode receipt : receiptsOfEnds(namespace)) {
                    causes.merge(receipt.path("cause").asText(), 1, Integer::sum);
                    evicted += receipt.path("result").asText().equals("Evicted") ? 1 : 0;
                }
            }
        }
        keep(causes, evicted);
        assertThat(causes)
                .containsOnlyKeys("Reclaim", "Preemption", "RefusedStart", "MemoryOveruse");
        assertThat(new ClusterSnapshot(cluster.cluster(), Narrator.silent()).evictions())
                .as("the API server agreed as often as receipts say, evictions.seed=%d", SEED)
                .isEqualTo(evicted);
    }

    private void keep(Map<String, Integer> causes, int evicted) throws IOException {
        ObjectNode result = new ObjectMapper().createObjectNode();
        result.put("seed", SEED);
        result.put("rounds", ROUNDS);
        result.put("kills", kills.get());
        result.put("evicted", evicted);
        causes.forEach(result::put);
        System.out.println(result);
        String file = System.getProperty("evictions.result");
        if (file != null) {
            Files.writeString(Path.of(file), result.toPrettyString() + "\n");
        }
    }

    /** By three pods that were admitted in budget, and one that came when that was used up. */
    private static void occupyAllGpus(String spenders, String team) {
        cluster.create(spenders, "holds-1");
        cluster.create(spenders, CANNOT_START);
        cluster.createHalf(spenders, "holds-2");
        cluster.createHalf(team, GREEDY);
        // So it goes for no other reason.
        cluster.api()
                .merge(
                        Api.pod(spenders, CANNOT_START),
                        "{metadata: {annotations: {gpusharing.io/do-not-reclaim: 'true'}}}")
                .orFail();
        for (String inBudget : List.of("holds-1", CANNOT_START, "holds-2")) {
            cluster.isBound(spenders, inBudget);
        }
        cluster.isBound(team, GREEDY);
        cluster.awaitUsedUp(spenders);
        cluster.create(spenders, LATE);
        cluster.isBound(spenders, LATE);
    }

    private static void takeThem(String spenders, String team) {
        JsonNode greedy = cluster.pod(team, GREEDY);
        WAITERS.forEach(it -> cluster.create(team, it));
        cluster.refuse(spenders, CANNOT_START);
        soon("all of them are gone, and who waited has their room")
                .atMost(AMID_KILLS)
                .pollInterval(Duration.ofSeconds(1))
                .until(() -> {
                    cluster.reportTooMuchMemory(greedy);
                    return podsOf(spenders).isEmpty()
                            && podsOf(team).stream().filter(EvictionKillsIT::isBound).count()
                                    == WAITERS.size()
                            && cluster.isGone(team, GREEDY);
                });
    }

    private static boolean isBound(JsonNode pod) {
        return !pod.at("/spec/nodeName").asText().isEmpty();
    }

    private Duration pause() {
        return Duration.ofMillis(random.nextInt(500, LONGEST_PAUSE));
    }

    private void killOne(int most) {
        restartEnded();
        if (kills.get() == most) {
            return;
        }
        if (random.nextBoolean()) {
            cluster.scheduler().restartExtender();
        } else {
            cluster.installation().timekeeper().program().kill();
            cluster.installation().timekeeper().restart();
        }
        kills.incrementAndGet();
    }

    /** As kubelet does with what ended by itself. */
    private static void restartEnded() {
        cluster.scheduler().restartEnded();
        Program timekeeper = cluster.installation().timekeeper().program();
        if (!timekeeper.runs()) {
            cluster.installation().timekeeper().restart();
        }
    }

    private static List<JsonNode> podsOf(String namespace) {
        return EvictingCluster.items(
                        cluster.api()
                                .get("/api/v1/namespaces/%s/pods".formatted(namespace))
                                .orFail()
                                .path("items"))
                .toList();
    }

    /** Names of the pods of a namespace that were ended, as often as receipts say so. */
    private static List<String> ended(String namespace) {
        return receiptsOfEnds(namespace).stream()
                .map(it -> it.at("/victim/name").asText())
                .toList();
    }

    private static List<JsonNode> receiptsOfEnds(String namespace) {
        return cluster.receipts(namespace).stream()
                .filter(it -> ENDED.contains(it.path("result").asText()))
                .toList();
    }
}
