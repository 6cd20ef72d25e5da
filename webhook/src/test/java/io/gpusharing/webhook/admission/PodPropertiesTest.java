package io.gpusharing.webhook.admission;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.GpuBudgetSpec.OnExhausted;
import io.gpusharing.testing.RandomSeeds;
import io.gpusharing.webhook.review.MalformedReviewException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** What holds for every pod, over random ones. */
class PodPropertiesTest {

    private static final JsonMapper MAPPER = JsonMapper.shared();

    @ParameterizedTest
    @RandomSeeds(300)
    void nothingButOurKeysDiffers(long seed) {
        Random random = new Random(seed);
        ObjectNode pod = Manifests.asReceived(RandomPods.pod(random));
        Answered answer = installation(random).received(pod);

        if (answer.allowed()) {
            assertThat(Ours.without((ObjectNode) answer.patched())).isEqualTo(Ours.without(pod));
        }
    }

    @ParameterizedTest
    @RandomSeeds(300)
    void applyingTwiceChangesNothing(long seed) {
        Random random = new Random(seed);
        Installation installation = installation(random);
        Answered once = installation.create(RandomPods.pod(random));

        if (once.allowed()) {
            Answered twice = installation.received(once.patched());
            assertThat(twice.allowed()).as(twice.message()).isTrue();
            assertThat(twice.operations()).isEmpty();
        }
    }

    @ParameterizedTest
    @RandomSeeds(300)
    void theVerdictDoesNotDependOnTheOrderOfContainersKeysOrWhitespace(long seed) {
        Random random = new Random(seed);
        ObjectNode pod = Manifests.asReceived(RandomPods.pod(random));
        ObjectNode review = Installation.review("CREATE", "", "Pod", pod, null);
        Installation installation = installation(new Random(seed));
        Answered before = installation.ask(WebhookType.Mutate, review);

        ObjectNode shuffled = pod.deepCopy();
        shuffleContainers(shuffled, random);
        JsonNode reordered =
                shuffledKeys(Installation.review("CREATE", "", "Pod", shuffled, null), random);
        byte[] spread = MAPPER.writerWithDefaultPrettyPrinter().writeValueAsBytes(reordered);
        Answered after = new Answered(installation.answer(WebhookType.Mutate, spread), shuffled);

        assertThat(after.allowed()).isEqualTo(before.allowed());
        assertThat(after.code()).isEqualTo(before.code());
        assertThat(after.priorityClass()).isEqualTo(before.priorityClass());
    }

    @ParameterizedTest
    @RandomSeeds(300)
    void everyInputIsAnsweredByAReviewOrAnError(long seed) {
        Random random = new Random(seed);
        byte[] review =
                MAPPER.writeValueAsBytes(
                        Installation.review(
                                "CREATE",
                                "",
                                "Pod",
                                Manifests.asReceived(RandomPods.pod(random)),
                                null));
        for (int i = 0; i < 1 + random.nextInt(8); i++) {
            review[random.nextInt(review.length)] = (byte) random.nextInt(256);
        }
        for (WebhookType type : WebhookType.values()) {
            try {
                byte[] answer = new Installation().answer(type, review);
                assertThat(MAPPER.readTree(answer).path("kind").asString())
                        .isEqualTo("AdmissionReview");
            } catch (MalformedReviewException e) {
                assertThat(e.getMessage()).isNotBlank().doesNotContain("\n");
            }
        }
    }

    private static Installation installation(Random random) {
        var installation = new Installation();
        return switch (random.nextInt(3)) {
            case 0 -> installation;
            case 1 -> installation.budget("10", OnExhausted.LowerPriority);
            default -> installation.overBudget(OnExhausted.Reclaim);
        };
    }

    private static void shuffleContainers(ObjectNode pod, Random random) {
        ArrayNode containers = (ArrayNode) pod.at("/spec/containers");
        var shuffled = new ArrayList<JsonNode>(containers.valueStream().toList());
        Collections.shuffle(shuffled, random);
        containers.removeAll();
        containers.addAll(shuffled);
    }

    private static JsonNode shuffledKeys(JsonNode node, Random random) {
        if (node.isObject()) {
            var fields = new ArrayList<Map.Entry<String, JsonNode>>(node.propertyStream().toList());
            Collections.shuffle(fields, random);
            ObjectNode shuffled = MAPPER.createObjectNode();
            fields.forEach(
                    field -> shuffled.set(field.getKey(), shuffledKeys(field.getValue(), random)));
            return shuffled;
        }
        if (node.isArray()) {
            ArrayNode entries = MAPPER.createArrayNode();
            node.forEach(entry -> entries.add(shuffledKeys(entry, random)));
            return entries;
        }
        return node;
    }
}
