package io.gpusharing.testing;

import com.fasterxml.jackson.databind.JsonNode;
import io.gpusharing.testing.RecordedLife.Version;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * The table of lives in docs/accounting.md, applied to a pod whose whole history is known. It looks
 * up fields and computes nothing, so it answers for any recorded or generated life what is due.
 */
public final class AccountingTable {

    private static final Path DOCUMENT = Path.of("../docs/accounting.md");
    private static final Map<String, Row> ROWS = read();

    /**
     * For what a pod is to be charged.
     *
     * @param estimated whether nobody saw its containers end
     */
    public record Charged(Instant begin, Instant end, boolean estimated) {}

    private record Row(String begin, String end, String estimated) {}

    private AccountingTable() {}

    /** The names of the lives that it has. */
    public static List<String> lives() {
        return ROWS.keySet().stream().sorted().toList();
    }

    /**
     * What is due for a life that is over.
     *
     * @throws IllegalArgumentException if the document has no row for it
     */
    public static Charged of(RecordedLife life) {
        Row row = ROWS.get(life.name().replaceFirst("/.*", ""));
        if (row == null) {
            throw new IllegalArgumentException("docs/accounting.md has no row " + life.name());
        }
        Instant begin = begin(row.begin(), life);
        JsonNode last = life.last().pod();
        Instant end =
                switch (row.end()) {
                    case "`finishedAt`" -> finished(last).orElseThrow();
                    case "`finishedAt`, else write of the status" ->
                            finished(last).orElseGet(() -> written(last));
                    case "write of the status" -> written(last);
                    case "`deletionTimestamp`" ->
                            Instant.parse(last.at("/metadata/deletionTimestamp").asText());
                    case "`DisruptionTarget`" -> transition(last, "DisruptionTarget");
                    default -> throw new IllegalArgumentException("An end at " + row.end());
                };
        boolean estimated =
                switch (row.estimated()) {
                    case "yes" -> true;
                    case "without `finishedAt`" -> finished(last).isEmpty();
                    default -> false;
                };
        return new Charged(begin, end.isBefore(begin) ? begin : end, estimated);
    }

    private static Instant begin(String field, RecordedLife life) {
        return switch (field) {
            case "`PodScheduled`" ->
                    life.versions().stream()
                            .map(Version::pod)
                            .filter(pod -> pod.at("/spec/nodeName").isTextual())
                            .map(pod -> transition(pod, "PodScheduled"))
                            .findFirst()
                            .orElseThrow();
            case "`startTime`, not before its creation" -> {
                JsonNode pod = life.last().pod();
                Instant started = Instant.parse(pod.at("/status/startTime").asText());
                Instant created = Instant.parse(pod.at("/metadata/creationTimestamp").asText());
                yield started.isBefore(created) ? created : started;
            }
            default -> throw new IllegalArgumentException("A begin at " + field);
        };
    }

    private static Optional<Instant> finished(JsonNode pod) {
        Optional<Instant> meters = finished(pod, true);
        return finished(pod, false)
                .filter(own -> meters.isEmpty() || meters.get().isBefore(own.plusSeconds(60)))
                .or(() -> meters);
    }

    private static Optional<Instant> finished(JsonNode pod, boolean meter) {
        return statuses(pod)
                .filter(status -> status.path("name").equals(meter(pod)) == meter)
                .map(status -> status.at("/state/terminated/finishedAt"))
                .filter(JsonNode::isTextual)
                .map(time -> Instant.parse(time.asText()))
                .max(Comparator.naturalOrder());
    }

    private static Instant written(JsonNode pod) {
        return StreamSupport.stream(pod.at("/metadata/managedFields").spliterator(), false)
                .filter(entry -> entry.path("subresource").asText().equals("status"))
                .map(entry -> Instant.parse(entry.path("time").asText()))
                .max(Comparator.naturalOrder())
                .orElseThrow();
    }

    private static JsonNode meter(JsonNode pod) {
        return pod.at("/metadata/annotations").path("gpusharing.io/sidecar");
    }

    private static Stream<JsonNode> statuses(JsonNode pod) {
        return Stream.of("initContainerStatuses", "containerStatuses")
                .flatMap(list ->
                        StreamSupport.stream(pod.path("status").path(list).spliterator(), false));
    }

    private static Instant transition(JsonNode pod, String type) {
        return StreamSupport.stream(pod.at("/status/conditions").spliterator(), false)
                .filter(condition -> condition.path("type").asText().equals(type))
                .filter(condition -> condition.path("status").asText().equals("True"))
                .map(condition -> Instant.parse(condition.path("lastTransitionTime").asText()))
                .findFirst()
                .orElseThrow();
    }

    private static Map<String, Row> read() {
        try (Stream<String> lines = Files.lines(DOCUMENT)) {
            return lines.filter(line -> line.matches("\\| `(begin|middle|end)-.*"))
                    .map(line -> line.split(" *\\| *", -1))
                    .collect(
                            Collectors.toUnmodifiableMap(
                                    cells -> cells[1].replace("`", ""),
                                    cells -> new Row(cells[3], cells[4], cells[5])));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
