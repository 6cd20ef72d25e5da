package io.gpusharing.timekeeper.budget.status;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.kubernetes.LedgerLease;
import io.gpusharing.kubernetes.LedgerLease.Word;
import io.gpusharing.timekeeper.budget.status.CatchUp.Published;
import java.time.Instant;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Instants are seconds after ten. A round of the publisher begins when the ledger is up to date.
 */
class CatchUpTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");

    private final CatchUp catchUp = new CatchUp();

    private static Instant at(long second) {
        return TEN.plusSeconds(second);
    }

    private void round(long second, Map<String, Published> looked) {
        catchUp.begin(at(second), looked, at(second));
    }

    private void round(long second) {
        round(second, Map.of());
    }

    private Optional<Word> word(long second) {
        return catchUp.word(at(second), Set.of());
    }

    private static Optional<Word> says(long caughtUp, String... behind) {
        return Optional.of(new Word(at(caughtUp), Set.of(behind)));
    }

    /**
     * A round is its second and what was found in it: {@code 5 a:Late}, a write {@code w a}; they
     * follow each other. The word is asked for at a second: up to when, and who is behind.
     */
    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '|',
            textBlock =
                    """
                    nothing is said before the first round          |                                                |  0 | nothing
                    with no budgets, all is right                   | 0                                              |  0 | 0
                    it goes with the ledger                         | 0; 10; 20                                      | 25 | 20
                    one that was never written holds up all         | 0 a:Late                                       |  0 | nothing
                    for half a minute, though the ledger goes on    | 0 a:Late; 10; 20; 30                           | 30 | nothing
                    and is named then                               | 0 a:Late; 10; 20; 30                           | 31 | 30 a
                    until it is written                             | 0 a:Late; 10; 20; 30; w a                      | 31 | 30
                    all of them, before the first word              | 0 a:Late b:Late; w a                           |  1 | nothing
                    then it is right as of the round                | 0 a:Late b:Late; w a; w b                      |  1 | 0
                    one that becomes late was right a round ago     | 0 a:Right; 10 a:Late                           | 11 | 0
                    and holds up all for half a minute              | 0 a:Right; 10 a:Late; 20; 30; 40               | 40 | 0
                    but no longer                                   | 0 a:Right; 10 a:Late; 20; 30; 40               | 41 | 40 a
                    of two the earlier one counts                   | 0; 10 a:Late; 20 b:Late; 30                    | 31 | 0
                    then the other                                  | 0; 10 a:Late; 20 b:Late; 30; w a               | 31 | 10
                    each has half a minute of its own               | 0; 10 a:Late; 20 b:Late; 30; 40               | 45 | 10 a
                    looking again gives no new half minute          | 0; 10 a:Late; 20 a:Late; 30 a:Late; 40 a:Late  | 41 | 40 a
                    writing does                                    | 0; 10 a:Late; w a; 20 a:Late; 40 a:Late        | 45 | 10
                    one that decides alike after all is right       | 0; 10 a:Late; 20 a:Right                       | 21 | 20
                    one that has gone is forgotten                  | 0; 10 a:Late; 50 a:Gone                        | 51 | 50
                    one that has gone was not understood            | 0 a:NotUnderstood; 10 a:Gone                   | 11 | 10
                    one that is not understood is named at once     | 0 a:NotUnderstood                              |  0 | 0 a
                    also once that is written                       | 0 a:NotUnderstood; w a                         |  1 | 0 a
                    until it is understood, and written             | 0 a:NotUnderstood; 10 a:Late; w a              | 11 | 10
                    it holds up all until it is written             | 0 a:NotUnderstood; 10 a:Late                   | 11 | 0
                    """)
    void vouchesForWhatIsWritten(String what, @Nullable String story, long now, String expected) {
        for (String step : story == null ? new String[0] : story.split("; ", -1)) {
            String[] parts = step.split(" ", -1);
            if (parts[0].equals("w")) {
                catchUp.written(parts[1]);
            } else {
                round(
                        Long.parseLong(parts[0]),
                        Arrays.stream(parts)
                                .skip(1)
                                .map(it -> it.split(":", -1))
                                .collect(
                                        Collectors.toMap(
                                                it -> it[0], it -> Published.valueOf(it[1]))));
            }
        }

        String[] parts = expected.split(" ", -1);
        assertThat(word(now))
                .as(what)
                .isEqualTo(
                        expected.equals("nothing")
                                ? Optional.empty()
                                : says(
                                        Long.parseLong(parts[0]),
                                        Arrays.copyOfRange(parts, 1, parts.length)));
    }

    /** It is written each second, and each second it has changed again. */
    @Test
    void oneThatIsWrittenAgainAndAgainHoldsUpAllByARoundAlone() {
        round(0);
        for (long second = 1; second < 100; second++) {
            round(second, Map.of("a", Published.Late));
            assertThat(word(second)).isEqualTo(says(second - 1));
            catchUp.written("a");
        }
        assertThat(word(99)).isEqualTo(says(99));
    }

    @Test
    void aNewTermStartsWithNothing() {
        round(0, Map.of("a", Published.NotUnderstood, "b", Published.Late));
        round(40);
        assertThat(word(40)).isEqualTo(says(40, "a", "b"));

        catchUp.clear();

        assertThat(word(41)).isEmpty();
        round(50);
        assertThat(word(50)).isEqualTo(says(50));
    }

    @Test
    void nothingIsSaidWhileNothingIsKnownOfTheLedger() {
        catchUp.begin(null, Map.of("a", Published.Right), TEN);

        assertThat(word(0)).isEmpty();
    }

    @Test
    void budgetsThatCannotBeReadAreNamed() {
        round(0, Map.of("a", Published.Late));
        round(31);

        assertThat(catchUp.word(at(31), Set.of("c", "a"))).isEqualTo(says(31, "a", "c"));
    }

    @Test
    void nothingIsSaidWhileMoreAreBehindThanAWordCanName() {
        Map<String, Published> many =
                IntStream.rangeClosed(0, LedgerLease.MOST_BEHIND)
                        .boxed()
                        .collect(Collectors.toMap("b%d"::formatted, number -> Published.Late));
        round(0, many);
        round(40);
        assertThat(word(40)).isEmpty();

        catchUp.written("b0");

        assertThat(word(40).orElseThrow().behind()).hasSize(LedgerLease.MOST_BEHIND);
    }
}
