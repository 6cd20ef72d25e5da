package io.gpusharing.webhook.review;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.testing.RandomSeeds;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.JsonNodeFactory;

class ReviewJsonFactoryTest {

    private static final int[] TRICKY =
            "{}[]\"\\,: \n\u00e9\u20ac\ud83d\ude00ab".codePoints().toArray();
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    @ParameterizedTest
    @RandomSeeds(300)
    void passingOverAValueLeadsWhereReadingItLeads(long seed) {
        var random = new Random(seed);
        var object = NODES.objectNode();
        object.set("passed over", value(random, 4));
        object.put("next", 42);
        byte[] document =
                JsonMapper.shared().writer().writeValueAsBytes(NODES.arrayNode().add(object));

        try (var ours = atValue(new ReviewJsonFactory(), document);
                var usual = atValue(new JsonFactory(), document)) {
            ours.skipChildren();
            usual.skipChildren();

            while (usual.currentToken() != null) {
                assertThat(ours.currentToken()).isEqualTo(usual.currentToken());
                assertThat(ours.currentLocation().getByteOffset())
                        .isEqualTo(usual.currentLocation().getByteOffset());
                assertThat(ours.streamReadContext().pathAsPointer())
                        .isEqualTo(usual.streamReadContext().pathAsPointer());
                ours.nextToken();
                usual.nextToken();
            }
            assertThat(ours.currentToken()).isNull();
        }
    }

    private static JsonParser atValue(JsonFactory factory, byte[] document) {
        JsonParser json = factory.createParser(ObjectReadContext.empty(), document);
        while (json.nextToken() != JsonToken.PROPERTY_NAME) {
            // Goes into the array and its object.
        }
        json.nextToken();
        return json;
    }

    private static JsonNode value(Random random, int depth) {
        return switch (random.nextInt(depth == 0 ? 3 : 5)) {
            case 0 -> NODES.numberNode(random.nextInt());
            case 1 -> NODES.booleanNode(random.nextBoolean());
            case 2 -> NODES.stringNode(text(random));
            case 3 -> {
                var array = NODES.arrayNode();
                for (int i = random.nextInt(5); i > 0; i--) {
                    array.add(value(random, depth - 1));
                }
                yield array;
            }
            default -> {
                var object = NODES.objectNode();
                for (int i = random.nextInt(5); i > 0; i--) {
                    object.set(text(random), value(random, depth - 1));
                }
                yield object;
            }
        };
    }

    private static String text(Random random) {
        var text = new StringBuilder();
        for (int i = random.nextInt(24); i > 0; i--) {
            text.appendCodePoint(TRICKY[random.nextInt(TRICKY.length)]);
        }
        return text.toString();
    }
}
