package io.gpusharing.e2e.story;

import static io.gpusharing.e2e.story.PayerHistory.NOBODY;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ManagedFieldsEntryBuilder;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.gpusharing.e2e.story.PayerHistory.Answer;
import io.gpusharing.e2e.story.PayerHistory.Span;
import io.gpusharing.e2e.story.PayerHistory.Written;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What {@link PayersIT} holds the ledger against is itself right, and not kinder than it says. */
class PayerHistoryTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");
    private static final Written A = created("a", TEN, "team");
    private static final Written B = created("b", TEN.plusSeconds(5), "team");

    private static Written created(String budget, Instant at, String... namespaces) {
        return written(budget, at, Instant.MIN, at, at, namespaces);
    }

    /** Edited for the first time. */
    private static Written written(
            String budget, Instant created, Instant at, Instant stamp, String... namespaces) {
        return written(budget, created, created, at, stamp, namespaces);
    }

    /** By requests that take a tenth of a second, in the middle of one. */
    private static Written written(
            String budget,
            Instant created,
            Instant last,
            Instant at,
            Instant stamp,
            String... namespaces) {
        ObjectMeta answer =
                new ObjectMetaBuilder()
                        .withName(budget)
                        .withCreationTimestamp(created.toString())
                        .withManagedFields(
                                new ManagedFieldsEntryBuilder().withTime(stamp.toString()).build(),
                                new ManagedFieldsEntryBuilder()
                                        .withSubresource("status")
                                        .withTime(at.plusSeconds(600).toString())
                                        .build())
                        .build();
        return Written.of(answer, last, Set.of(namespaces), at.plusMillis(400), at.plusMillis(500));
    }

    private static Written deleted(String budget, Instant at) {
        return Written.deleted(budget, at.plusMillis(400), at.plusMillis(500));
    }

    private static PayerHistory history(Written... written) {
        return new PayerHistory(List.of(written), List.of());
    }

    private static Answer judge(PayerHistory history, String budget, long second) {
        return history.judge("team", budget, TEN.plusSeconds(second));
    }

    @Test
    void inTheSecondOfACreationTwoMayHavePaidAndBeforeAndAfterOne() {
        PayerHistory history = history(A);

        assertThat(judge(history, NOBODY, -1)).isEqualTo(Answer.RIGHT);
        assertThat(judge(history, "a", -1)).isEqualTo(Answer.WRONG);
        assertThat(judge(history, NOBODY, 0)).isEqualTo(Answer.RIGHT);
        assertThat(judge(history, "a", 0)).isEqualTo(Answer.RIGHT);
        assertThat(judge(history, NOBODY, 1)).isEqualTo(Answer.WRONG);
        assertThat(judge(history, "a", 1)).isEqualTo(Answer.RIGHT);
    }

    @Test
    void theOlderBudgetKeepsANamespaceUntilItIsDeletedAndThatWasSeen() {
        PayerHistory history = history(A, B, deleted("a", TEN.plusSeconds(20)));

        assertThat(judge(history, "b", 19)).isEqualTo(Answer.WRONG);
        assertThat(judge(history, "b", 20)).isEqualTo(Answer.RIGHT);
        assertThat(judge(history, "a", 21)).isEqualTo(Answer.RIGHT);
        assertThat(judge(history, "a", 22)).isEqualTo(Answer.WRONG);
    }

    @Test
    void aBudgetThatIsMadeAnewIsTheYoungest() {
        PayerHistory history =
                history(A, B, deleted("a", TEN.plusSeconds(20)), created("a", TEN.plusSeconds(20)));

        assertThat(judge(history, "a", 30)).isEqualTo(Answer.WRONG);
        assertThat(judge(history, "b", 30)).isEqualTo(Answer.RIGHT);
    }

    @Test
    void anEditHoldsFromItsStampOrWhereItHasNoneFromWhenItIsSeen() {
        Instant edited = TEN.plusSeconds(20);
        PayerHistory stamped = history(A, written("a", TEN, edited, edited));
        PayerHistory unstamped = history(A, written("a", TEN, edited, TEN));

        assertThat(judge(stamped, "a", 20)).isEqualTo(Answer.RIGHT);
        assertThat(judge(stamped, "a", 21)).isEqualTo(Answer.WRONG);
        assertThat(judge(stamped, NOBODY, 19)).isEqualTo(Answer.WRONG);
        assertThat(judge(unstamped, "a", 21)).isEqualTo(Answer.RIGHT);
        assertThat(judge(unstamped, "a", 22)).isEqualTo(Answer.WRONG);
        assertThat(judge(unstamped, NOBODY, 19)).isEqualTo(Answer.WRONG);
    }

    @Test
    void anEditWithoutAStampIsNotToldByAnOlderOneOfTheSameSecond() {
        var outage = new Span(TEN.minusSeconds(5), TEN.plusSeconds(60));
        PayerHistory history =
                new PayerHistory(List.of(A, written("a", TEN, TEN, TEN)), List.of(outage));

        assertThat(judge(history, "a", 1)).isEqualTo(Answer.RIGHT);
        assertThat(judge(history, "a", 40)).isEqualTo(Answer.WITHIN_AN_OUTAGE);
    }

    @Test
    void anOutageExcusesWhatNoObjectTellsAfterwards() {
        var outage = new Span(TEN.plusSeconds(15), TEN.plusSeconds(60));
        PayerHistory history =
                new PayerHistory(List.of(A, B, deleted("a", TEN.plusSeconds(20))), List.of(outage));

        assertThat(judge(history, "a", 40)).isEqualTo(Answer.WITHIN_AN_OUTAGE);
        assertThat(judge(history, "a", 60)).isEqualTo(Answer.WRONG);
        assertThat(judge(history, NOBODY, 40)).isEqualTo(Answer.WRONG);
    }

    @Test
    void anOutageExcusesNothingWhereTheObjectsTellTheOneInstant() {
        Instant moved = TEN.plusSeconds(20);
        var outage = new Span(TEN.plusSeconds(15), TEN.plusSeconds(60));
        PayerHistory history =
                new PayerHistory(
                        List.of(A, written("a", TEN, moved, moved), created("c", moved, "team")),
                        List.of(outage));

        assertThat(judge(history, "a", 22)).isEqualTo(Answer.WRONG);
        assertThat(judge(history, "c", 18)).isEqualTo(Answer.WRONG);
        assertThat(judge(history, "c", 22)).isEqualTo(Answer.RIGHT);
    }
}
