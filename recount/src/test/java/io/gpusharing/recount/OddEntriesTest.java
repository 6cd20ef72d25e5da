package io.gpusharing.recount;

import static io.gpusharing.recount.Audited.HALF;
import static io.gpusharing.recount.Audited.NODE;
import static io.gpusharing.recount.Audited.UID;
import static io.gpusharing.recount.Audited.alive;
import static io.gpusharing.recount.Audited.containers;
import static io.gpusharing.recount.Audited.ended;
import static io.gpusharing.recount.Audited.log;
import static io.gpusharing.recount.Audited.running;
import static io.gpusharing.recount.Audited.written;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.recount.Comparison.Finding;
import io.gpusharing.recount.Comparison.Verdict;
import io.gpusharing.recount.Payers.Paid;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A usual pod of half a GPU for twenty minutes, beside entries that no usual user causes. */
class OddEntriesTest {

    private static final Instant TEN = Instant.parse("2026-03-01T10:00:00Z");
    private static final List<String> USUAL =
            List.of(NODE, running(HALF), ended(HALF, "10:20:00"), alive("10:30:00"));

    private static Comparison besides(String... odd) {
        var charged =
                new Charged(
                        "team-a",
                        "p",
                        600_000_000,
                        List.of(new Paid("a", TEN, TEN.plusSeconds(1200))),
                        1_000_000,
                        false,
                        TEN.plusSeconds(1200),
                        false,
                        null,
                        List.of());
        AuditLog log = log(Stream.concat(Stream.of(odd), USUAL.stream()).toArray(String[]::new));
        return Comparison.of(Map.of(UID, charged), log, true, TEN, TEN.plusSeconds(1800));
    }

    /** Another pod of the same node. */
    private static String other(String pod) {
        return pod.replace(UID, "other").replace("\"name\": \"p\"", "\"name\": \"other\"");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"9e999", "123456789012345678901234567890", "9e2147483647", "100k1", "1Ei"})
    void aPodOfAnyAmountIsThatPodsProblem(String amount) {
        Comparison comparison =
                besides(other(running(containers("\"nvidia.com/gpu\": \"" + amount + "\""))));

        assertThat(comparison.equal()).isOne();
        assertThat(comparison.findings())
                .singleElement()
                .extracting(Finding::verdict, Finding::pod)
                .containsExactly(Verdict.NOT_RECOUNTED, "team-a/other");
        assertThat(comparison.defects()).isEmpty();
    }

    @Test
    void aPodWhoseEntryCannotBeReadIsToldWithWhatIsWrong() {
        String odd =
                other(running(HALF))
                        .replace(
                                "\"lastTransitionTime\": \"2026-03-01T10:00:00Z\"",
                                "\"lastTransitionTime\": \"yesterday\"");

        Comparison comparison = besides(odd);

        assertThat(comparison.equal()).isOne();
        assertThat(comparison.findings())
                .singleElement()
                .extracting(Finding::why)
                .asString()
                .startsWith("could not be read: ")
                .contains("yesterday");
    }

    @Test
    void aNodeOfOddAmountsIsTheProblemOfItsPods() {
        String node = NODE.replace("gpu-1", "gpu-2").replace("\"200\"", "\"many\"");
        String pod = other(running(HALF)).replace("gpu-1", "gpu-2");

        Comparison comparison = besides(node, pod);

        assertThat(comparison.equal()).isOne();
        assertThat(comparison.findings())
                .singleElement()
                .extracting(Finding::why)
                .isEqualTo("could not be read: \"many\" is no amount");
    }

    /** An API server writes it so when somebody names an hour that is in the next year in UTC. */
    @Test
    void theYearTenThousandIsRead() {
        String far = ended(HALF, "10:20:00").replace("2026-03-01T10:20:00", "10000-01-01T00:59:59");
        String stamped = far.replaceFirst("10000-01-01T00:59:59", "2026-03-01T10:20:00");

        Bill bill = Recount.of(log(NODE, running(HALF), stamped), false).values().iterator().next();

        assertThat(bill.to()).isEqualTo(Instant.parse("+10000-01-01T00:59:59Z"));
        assertThat(bill.unknown()).isNull();
    }

    @Test
    void anEntryIsReadHoweverDeepItIsNested() {
        int depth = 5_000;
        String deep = "{\"f:x\": ".repeat(depth) + "{}" + "}".repeat(depth);
        String pod =
                running(HALF)
                        .replace(
                                "\"namespace\": \"team-a\"",
                                "\"namespace\": \"team-a\", \"managedFields\": [{\"fieldsV1\": %s}]"
                                        .formatted(deep));

        assertThat(besides(pod).equal()).isOne();
        assertThat(besides(pod).defects()).isEmpty();
    }

    @Test
    void anEntryThatIsNoneIsToldAndEndsNothing() {
        Comparison comparison =
                besides(
                        "[]",
                        written(
                                "gpubudgets",
                                "10:00:00",
                                "{\"metadata\": {\"uid\": \"b\", \"creationTimestamp\": \"never\"}}"));

        assertThat(comparison.equal()).isOne();
        assertThat(comparison.defects())
                .hasSize(2)
                .allMatch(it -> it.contains("could not be read"));
    }

    @Test
    void bytesThatAreNoTextEndNothing(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("audit.log");
        Files.write(file, new byte[] {(byte) 0xff, (byte) 0xfe, '\n'});
        Files.writeString(
                file,
                String.join("\n", USUAL.stream().map(it -> it.replace("\n", "")).toList()),
                java.nio.file.StandardOpenOption.APPEND);

        AuditLog log = AuditLog.read(file, Duration.ofHours(1));

        assertThat(log.defects()).containsExactly("line 1 is no audit event");
        assertThat(Recount.of(log, false)).containsOnlyKeys(UID);
    }
}
