package io.gpusharing.testing;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import io.gpusharing.testing.RecordedLife.Version;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.random.RandomGenerator;

/**
 * Generates pods for simulations: each lives a recorded life again, at other times. What happened
 * in one second happens in one second again, what came later comes later, but by seconds or by a
 * quarter of an hour. So a generated pod has only content that an API server or a kubelet would
 * write.
 */
public final class PodGenerator {

    /** Longer gaps were requested and are kept: a year of grace is still a year. */
    private static final long DAY = Duration.ofDays(1).toSeconds();

    private final RandomGenerator random;
    private final int longestPause;

    /**
     * @param longestPause how many seconds at most lie between two things that happen to a pod
     */
    public PodGenerator(RandomGenerator random, Duration longestPause) {
        this.random = random;
        this.longestPause = Math.toIntExact(longestPause.toSeconds());
    }

    /**
     * A pod that lives as a recorded one did.
     *
     * @param start when the API server notes that it was created; parts of a second are cut off
     */
    public RecordedLife again(RecordedLife recorded, String namespace, Instant start) {
        String uid = new UUID(random.nextLong(), random.nextLong()).toString();
        NavigableMap<Long, Long> seconds = otherSeconds(recorded, start);
        return new RecordedLife(
                recorded.name(),
                recorded.kubernetes(),
                recorded.versions().stream()
                        .map(version -> {
                            var pod = (ObjectNode) translated(version.pod(), seconds);
                            ((ObjectNode) pod.path("metadata"))
                                    .put("uid", uid)
                                    .put("namespace", namespace)
                                    .put("name", "pod-" + uid);
                            return new Version(
                                    translated(version.at(), seconds), version.type(), pod);
                        })
                        .toList());
    }

    private NavigableMap<Long, Long> otherSeconds(RecordedLife recorded, Instant start) {
        var seconds = new TreeMap<Long, Long>();
        for (Version version : recorded.versions()) {
            seconds.put(version.at().getEpochSecond(), 0L);
            collect(version.pod(), seconds);
        }
        long before = seconds.firstKey();
        long now = 0;
        for (Map.Entry<Long, Long> second : seconds.entrySet()) {
            long pause = second.getKey() - before;
            before = second.getKey();
            now += pause == 0 || pause > DAY ? pause : 1 + random.nextInt(longestPause);
            second.setValue(now);
        }
        JsonNode created = recorded.versions().getFirst().pod().at("/metadata/creationTimestamp");
        long shift =
                start.getEpochSecond()
                        - seconds.getOrDefault(
                                Instant.parse(created.asText()).getEpochSecond(), 0L);
        seconds.replaceAll((second, later) -> later + shift);
        return seconds;
    }

    private static void collect(JsonNode node, Map<Long, Long> seconds) {
        if (node.isTextual() && isInstant(node.asText())) {
            seconds.put(Instant.parse(node.asText()).getEpochSecond(), 0L);
        } else {
            node.forEach(child -> collect(child, seconds));
        }
    }

    private static JsonNode translated(JsonNode node, NavigableMap<Long, Long> seconds) {
        if (node.isTextual() && isInstant(node.asText())) {
            return TextNode.valueOf(translated(Instant.parse(node.asText()), seconds).toString());
        }
        if (node instanceof ObjectNode object) {
            ObjectNode copy = object.objectNode();
            object.properties()
                    .forEach(field ->
                            copy.set(field.getKey(), translated(field.getValue(), seconds)));
            return copy;
        }
        if (node instanceof ArrayNode array) {
            ArrayNode copy = array.arrayNode();
            array.forEach(child -> copy.add(translated(child, seconds)));
            return copy;
        }
        return node;
    }

    private static Instant translated(Instant instant, NavigableMap<Long, Long> seconds) {
        Map.Entry<Long, Long> floor = seconds.floorEntry(instant.getEpochSecond());
        return instant.plusSeconds(floor.getValue() - floor.getKey());
    }

    private static boolean isInstant(String text) {
        return text.length() >= 20
                && text.endsWith("Z")
                && text.charAt(4) == '-'
                && text.charAt(10) == 'T';
    }
}
