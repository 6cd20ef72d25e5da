package io.gpusharing.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpusharing.testing.RecordedLife.Version;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;

/**
 * The pods of simulations look like pods that were recorded. An earlier generator wrote what its
 * author assumed about Kubernetes, and so could not reveal that a pod was charged for waiting.
 */
class PodGeneratorTest {

    private static final Instant START = Instant.parse("2026-03-27T21:17:05Z");
    private static final Duration LONGEST = Duration.ofMinutes(10);

    @ParameterizedTest
    @RandomSeeds(20)
    void generatedPodsHaveTheShapesOfRecordedOnes(long seed) {
        var generator = new PodGenerator(new Random(seed), LONGEST);

        for (RecordedLife recorded : RecordedLife.all()) {
            check(recorded, generator.again(recorded, "team-a", START));
        }
    }

    @ParameterizedTest
    @RandomSeeds(5)
    void generatedPodsWaitAndRunForOtherTimesThanRecordedOnes(long seed) {
        RecordedLife recorded = RecordedLife.named("begin-unschedulable-30-s/pod");

        RecordedLife generated =
                new PodGenerator(new Random(seed), LONGEST).again(recorded, "team-a", START);

        Version first = generated.versions().getFirst();
        Version last = generated.last();
        assertThat(first.pod().at("/metadata/creationTimestamp").asText())
                .isEqualTo(START.toString());
        assertThat(Duration.between(first.at(), last.at()))
                .isGreaterThan(Duration.ofSeconds(5))
                .isLessThan(Duration.ofHours(4))
                .isNotEqualTo(
                        Duration.between(
                                recorded.versions().getFirst().at(), recorded.last().at()));
    }

    @Test
    void aGeneratorWhoseBindingsWriteTheStatusIsDetected() {
        RecordedLife recorded = RecordedLife.named("begin-unschedulable-30-s/pod");

        RecordedLife generated =
                changed(
                        recorded,
                        pod -> {
                            String bound = scheduled(pod);
                            if (bound != null) {
                                ((ObjectNode) pod)
                                        .withObject("/metadata")
                                        .withArray("managedFields")
                                        .addObject()
                                        .put("manager", "kubelet")
                                        .put("operation", "Update")
                                        .put("subresource", "status")
                                        .put("time", bound);
                            }
                        });

        assertThatThrownBy(() -> check(recorded, generated)).isInstanceOf(AssertionError.class);
    }

    @Test
    void aGeneratorWhoseTerminalPodsAllHaveFinishTimesIsDetected() {
        RecordedLife recorded = RecordedLife.named("end-node-lost-and-deleted/pod");

        RecordedLife generated =
                changed(
                        recorded,
                        pod -> {
                            if (pod.at("/status/phase").asText().equals("Failed")) {
                                ((ObjectNode) pod.at("/status/containerStatuses/0"))
                                        .putObject("state")
                                        .putObject("terminated")
                                        .put("finishedAt", START.toString());
                            }
                        });

        assertThatThrownBy(() -> check(recorded, generated)).isInstanceOf(AssertionError.class);
    }

    private static void check(RecordedLife recorded, RecordedLife generated) {
        List<PodShape> shapes = PodShape.of(generated);
        assertThat(shapes).as(recorded.name()).isEqualTo(PodShape.of(recorded));
    }

    private static RecordedLife changed(RecordedLife life, Consumer<JsonNode> change) {
        return new RecordedLife(
                life.name(),
                life.kubernetes(),
                life.versions().stream()
                        .map(version -> {
                            JsonNode pod = version.pod().deepCopy();
                            change.accept(pod);
                            return new Version(version.at(), version.type(), pod);
                        })
                        .toList());
    }

    private static @Nullable String scheduled(JsonNode pod) {
        for (JsonNode condition : pod.at("/status/conditions")) {
            if (condition.path("type").asText().equals("PodScheduled")
                    && condition.path("status").asText().equals("True")) {
                return condition.path("lastTransitionTime").asText();
            }
        }
        return null;
    }
}
