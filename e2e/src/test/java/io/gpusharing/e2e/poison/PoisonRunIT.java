package io.gpusharing.e2e.poison;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpusharing.e2e.poison.Poison.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Thousands of objects that a reader may stumble over, made at random. After each quarter of them,
 * pods of others live through what {@link InnocentPods} tells; in the middle our services start
 * again.
 *
 * <p>Settable: {@code -Dpoison.seed}, {@code -Dpoison.objects}, {@code -Dpoison.result} (a file for
 * the counts, which {@code benchmarks/soak/poison} keeps).
 */
@Tag("poison")
class PoisonRunIT {

    private static final long SEED = Long.getLong("poison.seed", System.nanoTime());
    private static final int OBJECTS = Integer.getInteger("poison.objects", 2_000);
    private static final int QUARTERS = 4;

    private static PoisonedCluster cluster;

    @BeforeAll
    static void start() {
        System.out.printf("poison.seed=%d poison.objects=%d%n", SEED, OBJECTS);
        cluster = PoisonedCluster.start("poison-run");
    }

    @AfterAll
    static void end() {
        cluster.close();
    }

    @Test
    void noneOfThousandsOfObjectsStopsTheRest() throws IOException {
        Instant begun = Instant.now();
        var generator = new PoisonGenerator(SEED);
        for (int quarter = 1; quarter <= QUARTERS; quarter++) {
            while (stored() < OBJECTS * quarter / QUARTERS) {
                Poison poison = generator.next();
                assertThat(cluster.store(poison).getFirst())
                        .as("poison.seed=%d, %s", SEED, poison)
                        .isNotEqualTo(Outcome.FAILED);
            }
            if (quarter == QUARTERS / 2) {
                cluster.restartServices();
            }
            cluster.innocents().live();
            cluster.nothingIsListedMoreThanTwice();
            cluster.everyPartIsReady();
            System.out.println(cluster.outcomes() + ", unreadable: " + cluster.unreadable(""));
        }
        InnocentPods innocents = cluster.innocents();
        ObjectNode result = result(begun);
        cluster.clear();
        innocents.comeAndGo("afterwards");
        keep(result);
    }

    private static int stored() {
        return cluster.outcomes().getOrDefault(Outcome.STORED, 0);
    }

    private static ObjectNode result(Instant begun) {
        ObjectNode result = new ObjectMapper().createObjectNode();
        result.put("seed", SEED);
        cluster.outcomes()
                .forEach((outcome, count) ->
                        result.put(outcome.name().toLowerCase(Locale.ROOT), count));
        cluster.unreadable("")
                .forEach((service, count) -> result.put("unreadable to " + service, count));
        result.put("seconds", Duration.between(begun, Instant.now()).toSeconds());
        return result;
    }

    private static void keep(ObjectNode result) throws IOException {
        System.out.println(result);
        String file = System.getProperty("poison.result");
        if (file != null) {
            Files.writeString(Path.of(file), result.toPrettyString());
        }
    }
}
