package io.gpusharing.recount;

import static io.gpusharing.recount.Audited.HALF;
import static io.gpusharing.recount.Audited.NODE;
import static io.gpusharing.recount.Audited.UID;
import static io.gpusharing.recount.Audited.alive;
import static io.gpusharing.recount.Audited.budget;
import static io.gpusharing.recount.Audited.containers;
import static io.gpusharing.recount.Audited.ended;
import static io.gpusharing.recount.Audited.log;
import static io.gpusharing.recount.Audited.naming;
import static io.gpusharing.recount.Audited.pod;
import static io.gpusharing.recount.Audited.running;
import static io.gpusharing.recount.Audited.terminated;
import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.recount.Charged.Part;
import io.gpusharing.recount.Comparison.Finding;
import io.gpusharing.recount.Comparison.Verdict;
import io.gpusharing.recount.Payers.Paid;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Half a GPU for twenty minutes, and ledgers that say so or something else. */
class ComparisonTest {

    private static final Instant TEN = Instant.parse("2026-03-01T10:00:00Z");
    private static final Instant ELEVEN = TEN.plusSeconds(3600);
    private static final long DUE = 600_000_000;
    private static final String END = ended(HALF, "10:20:00");
    private static final AuditLog WHOLE =
            log(NODE, running(HALF), END, alive("10:40:00"), alive("11:00:00"));

    private static Charged charged(long amount) {
        return charged(amount, 1_000_000, false, false, "a");
    }

    private static Charged charged(
            long amount, long weight, boolean byUse, boolean estimated, String... budgets) {
        return new Charged(
                "team-a",
                "p",
                amount,
                Stream.of(budgets).map(it -> new Paid(it, TEN, TEN.plusSeconds(1200))).toList(),
                weight,
                byUse,
                TEN.plusSeconds(1200),
                estimated,
                null,
                List.of());
    }

    private static Comparison compare(Charged charged, AuditLog log) {
        return Comparison.of(Map.of(UID, charged), log, true, TEN, ELEVEN);
    }

    private static Finding finding(Comparison comparison) {
        assertThat(comparison.equal()).isZero();
        assertThat(comparison.findings()).hasSize(1);
        return comparison.findings().getFirst();
    }

    @Test
    void aPodOnAGpuThatTheLogDoesNotDescribeIsRightIfAllAreAlikeAndElseNotRecounted() {
        String placed =
                ", \"annotations\": {\"gpusharing.io/placement\": \"%s;cuda=GPU-1\"}"
                        .formatted(UID);
        AuditLog log =
                log(
                        NODE,
                        pod("10:00:00", 1, placed, HALF, ""),
                        pod(
                                "10:20:00",
                                2,
                                placed,
                                HALF,
                                ", \"phase\": \"Succeeded\""
                                        + terminated("containerStatuses", "10:20:00")),
                        alive("10:40:00"),
                        alive("11:00:00"));

        assertThat(compare(charged(DUE), log).equal()).isOne();
        assertThat(finding(compare(charged(DUE + 1), log)).verdict())
                .isEqualTo(Verdict.NOT_RECOUNTED);
    }

    /** So many seconds from ten o'clock at one rate, and up to twenty past at another. */
    private static Comparison compareParts(int seconds, long first, long then, long too) {
        Instant change = TEN.plusSeconds(seconds);
        List<Part> parts =
                Charged.byRate(
                        List.of(
                                new Part(first, first * seconds, TEN, change),
                                new Part(
                                        then,
                                        then * (1200 - seconds),
                                        change,
                                        TEN.plusSeconds(1200))));
        long amount = parts.stream().mapToLong(Part::amount).sum() + too;
        Charged usual = charged(amount);
        return compare(
                new Charged(
                        usual.namespace(),
                        usual.name(),
                        amount,
                        usual.paid(),
                        usual.weight(),
                        false,
                        usual.heldUntil(),
                        false,
                        null,
                        parts),
                Audited.onSmallGpu());
    }

    @Test
    void whatWasPostedBeforeThePodsGpuCouldBeReadIsRecountedAndNotJudged() {
        assertThat(compareParts(0, 500_000, 750_000, 0).equal()).isOne();
        assertThat(finding(compareParts(300, 500_000, 750_000, 0)))
                .isEqualTo(
                        new Finding(
                                Verdict.NOT_RECOUNTED,
                                UID,
                                "team-a/p",
                                825_000_000,
                                825_000_000L,
                                "from 2026-03-01T10:00:00Z to 2026-03-01T10:05:00Z it was charged as if its node's GPUs were alike; no log says when its own could be read"));
        assertThat(finding(compareParts(1200, 500_000, 750_000, 0)).verdict())
                .isEqualTo(Verdict.NOT_RECOUNTED);
        assertThat(finding(compareParts(300, 250_000, 750_000, 0)))
                .extracting(Finding::verdict, Finding::why)
                .containsExactly(
                        Verdict.NOT_RECOUNTED,
                        "from 2026-03-01T10:00:00Z to 2026-03-01T10:05:00Z it was charged at another rate, before its GPU could be read; the log does not say by which weight");
    }

    @Test
    void anEstimateOfThePodsGpuExcusesNothingElse() {
        assertThat(finding(compareParts(300, 500_000, 750_000, 1)).verdict())
                .isEqualTo(Verdict.DIFFERENT);
        assertThat(finding(compareParts(300, 750_000, 500_000, 0)).verdict())
                .isEqualTo(Verdict.DIFFERENT);
        assertThat(finding(compareParts(1200, 600_000, 750_000, 0)).verdict())
                .isEqualTo(Verdict.DIFFERENT);
        assertThat(finding(compareParts(300, 500_000, 600_000, 0)).verdict())
                .isEqualTo(Verdict.DIFFERENT);
    }

    @Test
    void equalBillsAreCounted() {
        Comparison comparison = compare(charged(DUE), WHOLE);

        assertThat(comparison.equal()).isOne();
        assertThat(comparison.findings()).isEmpty();
        assertThat(comparison.agrees()).isTrue();
        assertThat(comparison.complete()).isTrue();
    }

    @Test
    void aMicroGpuSecondMoreOrLessOrAllOfItTwiceIsADifference() {
        for (long wrong : new long[] {DUE + 1, DUE - 1, 2 * DUE, 0}) {
            Comparison comparison = compare(charged(wrong), WHOLE);

            assertThat(comparison.agrees()).isFalse();
            assertThat(finding(comparison))
                    .isEqualTo(
                            new Finding(
                                    Verdict.DIFFERENT, UID, "team-a/p", wrong, DUE, "both differ"));
        }
    }

    @Test
    void aPodThatOnlyOneSideHasIsADifference() {
        Comparison lost = Comparison.of(Map.of(), WHOLE, true, TEN, ELEVEN);
        Comparison invented = Comparison.of(Map.of("x", charged(1)), log(NODE), true, TEN, TEN);

        assertThat(finding(lost).verdict()).isEqualTo(Verdict.DIFFERENT);
        assertThat(finding(lost).recount()).isEqualTo(DUE);
        assertThat(finding(invented).verdict()).isEqualTo(Verdict.DIFFERENT);
        assertThat(finding(invented).why()).isEqualTo("the log does not know this pod");
    }

    @Test
    void aPodFromBeforeTheLogIsNotCompared() {
        Comparison comparison =
                Comparison.of(Map.of("x", charged(1)), WHOLE, true, TEN.minusSeconds(1), ELEVEN);

        assertThat(comparison.findings())
                .filteredOn(it -> it.uid().equals("x"))
                .extracting(Finding::verdict)
                .containsExactly(Verdict.NOT_RECOUNTED);
    }

    @Test
    void theWeightOfItsGpuIsTheSites() {
        assertThat(compare(charged(DUE / 2, 500_000, false, false, "a"), WHOLE).findings())
                .isEmpty();
        assertThat(compare(charged(DUE, 500_000, false, false, "a"), WHOLE).agrees()).isFalse();
    }

    @Test
    void anEndThatTheLedgerCallsEstimatedIsNoDifference() {
        AuditLog later = log(NODE, running(HALF), ended(HALF, "10:20:01"), alive("10:45:00"));

        Comparison comparison = compare(charged(DUE, 1_000_000, false, true, "a"), later);

        assertThat(finding(comparison).verdict()).isEqualTo(Verdict.ESTIMATED);
        assertThat(finding(comparison).recount()).isEqualTo(DUE + 500_000);
        assertThat(comparison.agrees()).isTrue();
    }

    /** As of a pod that a sweep had found, and the next one did not. */
    @Test
    void anEstimatedEndIsNoDifferenceWithinTheBoundThatTheLedgerGives() {
        Instant estimate = TEN.plusSeconds(1200);
        AuditLog within = log(NODE, running(HALF), ended(HALF, "10:34:00"), alive("11:00:00"));
        AuditLog beyond = log(NODE, running(HALF), ended(HALF, "10:36:00"), alive("11:00:00"));
        var charged =
                new Charged(
                        "team-a",
                        "p",
                        DUE,
                        List.of(new Paid("a", TEN, estimate)),
                        1_000_000,
                        false,
                        estimate,
                        true,
                        estimate.plusSeconds(900),
                        List.of());

        assertThat(finding(compare(charged, within)).verdict()).isEqualTo(Verdict.ESTIMATED);
        assertThat(finding(compare(charged, beyond)))
                .extracting(Finding::verdict, Finding::why)
                .containsExactly(
                        Verdict.DIFFERENT,
                        "the ledger marks its end as estimated, by 2026-03-01T10:35:00Z at the latest");
    }

    @Test
    void aPodOfWholeGpusThatTheLedgerNeverSawIsADifferenceWhereTheyAreCharged() {
        String two = containers("\"nvidia.com/gpu\": \"2\"");
        AuditLog log = log(NODE, running(two), ended(two, "10:00:36"), alive("10:30:00"));

        assertThat(finding(Comparison.of(Map.of(), log, true, TEN, ELEVEN)))
                .isEqualTo(
                        new Finding(
                                Verdict.DIFFERENT,
                                UID,
                                "team-a/p",
                                0,
                                72_000_000L,
                                "the ledger does not know this pod"));
        assertThat(Comparison.of(Map.of(), log, false, TEN, ELEVEN).findings()).isEmpty();
    }

    @Test
    void anEstimatedEndExcusesNothingElse() {
        AuditLog later = log(NODE, running(HALF), ended(HALF, "10:20:01"), alive("10:45:00"));

        Comparison comparison = compare(charged(2 * DUE, 1_000_000, false, true, "a"), later);

        assertThat(finding(comparison).verdict()).isEqualTo(Verdict.DIFFERENT);
    }

    @Test
    void measuredUseIsInNoLog() {
        Comparison comparison = compare(charged(1, 1_000_000, true, false, "a"), WHOLE);

        assertThat(finding(comparison).verdict()).isEqualTo(Verdict.NOT_RECOUNTED);
        assertThat(comparison.complete()).isFalse();
    }

    @Test
    void eachBudgetsOwnFormulaIsRecounted() {
        AuditLog memory = with(budget("a", "{\"formula\": \"Memory\"}"));

        assertThat(compare(charged(DUE / 2), memory).findings()).isEmpty();
        assertThat(compare(charged(DUE), memory).agrees()).isFalse();
    }

    @Test
    void aRuleThatIsNotRecountedOrChangedInTheSpanIsNamed() {
        Charged ofTwo = charged(DUE, 1_000_000, false, false, "a", "b");

        assertThat(
                        finding(
                                        compare(
                                                charged(DUE),
                                                with(budget("a", "{\"reference\": \"Fixed\"}"))))
                                .verdict())
                .isEqualTo(Verdict.NOT_RECOUNTED);
        assertThat(
                        finding(
                                        compare(
                                                charged(DUE),
                                                with(
                                                        budget("a", "{\"formula\": \"Memory\"}"),
                                                        budget("a", "{\"formula\": \"Max\"}"))))
                                .verdict())
                .isEqualTo(Verdict.NOT_RECOUNTED);
        assertThat(finding(compare(ofTwo, with(budget("b", "{\"formula\": \"Mean\"}")))).why())
                .contains("share rule");
    }

    @Test
    void aLogThatDoesNotShowAllOfTheSpanIsNoProof() {
        Comparison early = compare(charged(DUE), log(NODE, running(HALF), END));
        Comparison torn = compare(charged(DUE), log(NODE, "{", running(HALF), END));
        Comparison silent = compare(charged(DUE), log(NODE, running(HALF), END, alive("11:00:00")));

        assertThat(early.defects()).singleElement().asString().contains("ends at", "before");
        assertThat(torn.defects()).anyMatch(it -> it.contains("line 2"));
        assertThat(silent.defects()).singleElement().asString().contains("has nothing between");
        for (Comparison comparison : List.of(early, torn, silent)) {
            assertThat(comparison.equal()).isOne();
            assertThat(comparison.agrees()).isTrue();
            assertThat(comparison.complete()).isFalse();
        }
    }

    private static AuditLog with(String... budgets) {
        var lines = new java.util.ArrayList<>(List.of(budgets));
        lines.addAll(List.of(NODE, running(HALF), END, alive("10:40:00"), alive("11:00:00")));
        return log(lines.toArray(String[]::new));
    }

    @Test
    void thePayerIsComparedToo() {
        String named = naming("09:00:00", "a", "09:00:00", 1, "team-a");
        String other = naming("09:00:00", "b", "09:00:00", 1, "team-b");
        AuditLog log = log(NODE, named, other, running(HALF), END, alive("11:00:00"));

        assertThat(compare(charged(DUE), log).paid()).isOne();
        Comparison wrong = compare(charged(DUE, 1_000_000, false, false, "b"), log);
        assertThat(wrong.agrees()).isFalse();
        assertThat(wrong.paid()).isZero();
        assertThat(wrong.findings())
                .singleElement()
                .extracting(Finding::why)
                .isEqualTo(
                        "from 2026-03-01T10:00:00Z to 2026-03-01T10:20:00Z budget b paid, and by the log that never had its namespace");
    }

    @Test
    void aPayerAtAnotherTimeThanTheLogSaysIsNotJudged() {
        AuditLog log =
                log(
                        NODE,
                        naming("09:00:00", "a", "09:00:00", 1, "team-a"),
                        running(HALF),
                        naming("10:10:00", "a", "09:00:00", 2),
                        END,
                        alive("11:00:00"));

        Comparison comparison = compare(charged(DUE), log);

        assertThat(comparison.agrees()).isTrue();
        assertThat(comparison.complete()).isFalse();
        assertThat(comparison.findings())
                .singleElement()
                .extracting(Finding::verdict)
                .isEqualTo(Verdict.NOT_RECOUNTED);
    }

    @Test
    void aLogWithoutBudgetsDoesNotShowWhoPaid() {
        Comparison comparison = compare(charged(DUE), WHOLE);

        assertThat(comparison.findings()).isEmpty();
        assertThat(comparison.paid()).isZero();
    }
}
