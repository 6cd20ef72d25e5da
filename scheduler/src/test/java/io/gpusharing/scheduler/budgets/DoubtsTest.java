package io.gpusharing.scheduler.budgets;

import static io.gpusharing.scheduler.testing.BudgetObjects.budget;
import static io.gpusharing.scheduler.testing.BudgetObjects.read;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.gpusharing.kubernetes.LedgerLease.Word;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.node.ObjectNode;

class DoubtsTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");

    private static final Optional<Word> GOOD = word(0);

    private static Optional<Word> word(long seconds, String... behind) {
        return Optional.of(new Word(TEN.plusSeconds(seconds), Set.of(behind)));
    }

    /** A budget that is used up by a status of an instant. */
    private static ObjectNode over(long seconds) {
        return budget("team-a", -60, TEN.plusSeconds(seconds));
    }

    private static ObjectNode with(String field, Object value) {
        ObjectNode budget = over(0);
        String parent = field.substring(0, field.indexOf('/'));
        budget.withObject(parent).putPOJO(field.substring(field.indexOf('/') + 1), value);
        return budget;
    }

    private static ObjectNode without(String field) {
        ObjectNode budget = over(0);
        budget.remove(field);
        return budget;
    }

    private static Optional<String> doubt(
            Optional<Word> word, ObjectNode budget, Map<String, Instant> grants) {
        var budgets = new Budgets(() -> TEN);
        try {
            budgets.onUpdate(read(budget));
        } catch (RuntimeException e) {
            assertThat(budgets.named("team-a").orElseThrow().readable()).isFalse();
        }
        return Doubts.of(word, grants, TEN).of(budgets.named("team-a").orElseThrow());
    }

    private static Stream<Arguments> reasons() {
        return Stream.of(
                arguments("fresh", GOOD, over(0), null),
                arguments("status of long ago", GOOD, over(-86_400), null),
                arguments(
                        "no word",
                        Optional.empty(),
                        over(0),
                        "the timekeeper has not said up to when its ledger has caught up"),
                arguments("word of 90 s ago", word(-90), over(0), null),
                arguments(
                        "word of 91 s ago",
                        word(-91),
                        over(0),
                        "the ledger has not caught up since 2026-03-02T09:58:29Z"),
                arguments("word of another clock", word(5), over(0), null),
                arguments(
                        "word of a wrong clock",
                        word(6),
                        over(0),
                        "the ledger has caught up by a clock that was ahead, at 2026-03-02T10:00:06Z"),
                arguments(
                        "named as behind",
                        word(0, "team-a"),
                        over(0),
                        "budget team-a is not published as the ledger has it"),
                arguments("another is behind", word(0, "team-b"), over(0), null),
                arguments(
                        "edited",
                        GOOD,
                        with("metadata/generation", 3),
                        "budget team-a has been edited since its status was written"),
                arguments(
                        "status of a later generation, of which the watch knows nothing yet",
                        GOOD,
                        with("status/observedGeneration", 3),
                        "budget team-a has been edited since its status was written"),
                arguments(
                        "no status",
                        GOOD,
                        without("status"),
                        "budget team-a has been edited since its status was written"),
                arguments(
                        "unreadable amount",
                        GOOD,
                        with("spec/gpuMinutes", "much"),
                        "budget team-a cannot be read"),
                arguments(
                        "unreadable minimum run time",
                        GOOD,
                        with("spec/minimumRunTime", "long"),
                        "budget team-a cannot be read"),
                arguments("ahead by what clocks differ", GOOD, over(5), null),
                arguments(
                        "ahead by more",
                        GOOD,
                        over(6),
                        "budget team-a was computed by a clock that was ahead, as of"
                                + " 2026-03-02T10:00:06Z"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("reasons")
    void saysWhyABudgetMayNotBeActedOn(
            String name, Optional<Word> word, ObjectNode budget, String why) {
        assertThat(doubt(word, budget, Map.of())).isEqualTo(Optional.ofNullable(why));
    }

    private static Stream<Arguments> grants() {
        return Stream.of(
                arguments("of after the status", over(-60), TEN.minusSeconds(10), true),
                arguments("of the same second", over(-60), TEN.minusSeconds(60), true),
                arguments("of as long before as clocks differ", over(0), TEN.minusSeconds(5), true),
                arguments("of before", over(0), TEN.minusSeconds(6), false),
                arguments(
                        "of a budget that is in budget without it",
                        budget("team-a", 60, TEN),
                        TEN,
                        false));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("grants")
    void aGrantThatTheStatusMayNotKnowMayBringItBackInBudget(
            String name, ObjectNode budget, Instant granted, boolean doubted) {
        assertThat(doubt(GOOD, budget, Map.of("team-a", granted)))
                .isEqualTo(
                        doubted
                                ? Optional.of(
                                        "budget team-a has a grant that is newer than its status")
                                : Optional.empty());
        assertThat(doubt(GOOD, budget, Map.of("team-b", granted))).isEmpty();
    }

    @Test
    void aGrantThatCannotBeReadPutsItsOwnBudgetInDoubtForAsLongAsItIsUsedUp() {
        Map<String, Instant> unreadable = Map.of("team-a", Instant.MAX);

        assertThat(doubt(GOOD, over(0), unreadable))
                .contains("budget team-a has a grant that cannot be read");
        assertThat(doubt(GOOD, budget("team-a", 60, TEN), unreadable)).isEmpty();
        assertThat(doubt(GOOD, over(0), Map.of("team-b", Instant.MAX))).isEmpty();
    }

    /** The line goes on for ever: by it the budget is used up, though its pods have ended. */
    @Test
    void byAFrozenLineNobodyGoesAfterNinetySeconds() {
        var budgets = new Budgets(() -> TEN);
        budgets.onUpdate(read(budget("team-a", 60, TEN)));
        KnownBudget budget = budgets.named("team-a").orElseThrow();

        for (long second = 0; second <= 7_200; second++) {
            Instant now = TEN.plusSeconds(second);
            boolean over = budget.isOver(now);
            assertThat(over).isEqualTo(second >= 60);
            assertThat(Doubts.of(GOOD, Map.of(), now).of(budget).isPresent())
                    .as("at " + now)
                    .isEqualTo(second > 90);
        }
    }
}
