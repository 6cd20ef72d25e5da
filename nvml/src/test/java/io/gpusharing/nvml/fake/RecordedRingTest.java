package io.gpusharing.nvml.fake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The fake's ring answers as a real driver's did, entry by entry, as recorded on an H200. */
class RecordedRingTest {

    /** One load, or several side by side. */
    record Case(
            String name, List<FakeProcess> processes, List<long[]> entries, List<String[]> polls) {

        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<Case> cases() {
        List<Case> cases = new ArrayList<>();
        for (String line : lines()) {
            String[] words = line.split(" ", -1);
            switch (words[0]) {
                case "#" -> {}
                case "case" ->
                        cases.add(
                                new Case(
                                        line.substring(5),
                                        new ArrayList<>(),
                                        new ArrayList<>(),
                                        new ArrayList<>()));
                case "process" ->
                        cases.getLast()
                                .processes()
                                .add(process(Long.parseLong(words[1]), Long.parseLong(words[2])));
                case "entry" ->
                        cases.getLast()
                                .entries()
                                .add(Stream.of(words).skip(1).mapToLong(Long::parseLong).toArray());
                default -> cases.getLast().polls().add(words);
            }
        }
        return cases.stream();
    }

    private static FakeProcess process(long pid, long end) {
        return new FakeProcess(0, pid, 0, "", 0, 0, 0, 0, 0, end);
    }

    private static List<String> lines() {
        try (InputStream file =
                RecordedRingTest.class.getResourceAsStream("/recorded/h200-580.txt")) {
            return new String(file.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("cases")
    void theRingAnswersAsTheRealOneDid(Case recorded) {
        List<Long> pids = recorded.processes().stream().map(FakeProcess::hostPid).toList();

        assertThat(recorded.polls()).isNotEmpty();
        for (String[] poll : recorded.polls()) {
            long at = Long.parseLong(poll[1]);
            Ring ring = new Ring(recorded.processes(), 72, 200_000);
            recorded.entries().stream()
                    .filter(entry -> entry[0] <= at)
                    .forEach(entry -> ring.add(entry[0], entry[1] * 100, pids.indexOf(entry[2])));
            Map<Long, String[]> rows = new LinkedHashMap<>();
            Stream.of(poll)
                    .skip(3)
                    .map(row -> row.split(":", -1))
                    .forEach(row -> rows.put(Long.parseLong(row[0]), row));
            for (int i = 0; i < pids.size(); i++) {
                String what = "process %d at %d".formatted(pids.get(i), at);
                int percent = ring.percent(i, Long.parseLong(poll[2]), at);
                String[] row = rows.remove(pids.get(i));
                assertThat(percent < 0).as(what).isEqualTo(row == null);
                if (row != null) {
                    // The recorded entries are whole percents, the driver's own are finer.
                    assertThat(percent).as(what).isCloseTo(Integer.parseInt(row[2]), within(2));
                    assertThat(ring.stamp(i))
                            .as(what)
                            .isCloseTo(Long.parseLong(row[1]), within(10L));
                }
            }
            assertThat(rows).as("rows of others at " + at).isEmpty();
        }
    }
}
