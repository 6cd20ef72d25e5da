package io.gpusharing.timekeeper.budget.status;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.budget.BudgetLine;
import io.gpusharing.budget.GpuBudgetStatus;
import io.gpusharing.budget.GpuBudgetStatus.Condition;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.InvalidSpec;
import io.gpusharing.timekeeper.budget.TestBudgets;
import io.gpusharing.timekeeper.budget.account.Assignment.Conflict;
import io.gpusharing.timekeeper.budget.account.Budget;
import io.gpusharing.timekeeper.budget.account.BudgetState;
import io.gpusharing.timekeeper.budget.account.NamespaceUse;
import io.gpusharing.timekeeper.budget.notify.Alerts;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Conditions of a budget: whether it is measured, and whether its namespaces exist. */
class PublicationDocumentTest {

    private static final Instant START = Instant.parse("2026-03-01T00:00:00Z");
    private static final Budget BUDGET =
            TestBudgets.monthly("a", START, "1000", "team-a").byUse().budget();

    private static GpuBudgetStatus status(
            @Nullable Integer unmeasured, Instant at, @Nullable GpuBudgetStatus before) {
        return status(unmeasured, Optional.empty(), at, before);
    }

    private static GpuBudgetStatus status(
            @Nullable Integer unmeasured,
            Optional<UnmatchedNamespaces> unmatched,
            Instant at,
            @Nullable GpuBudgetStatus before) {
        return status(List.of(), unmeasured, unmatched, at, before);
    }

    private static GpuBudgetStatus status(
            List<NamespaceUse> namespaces,
            @Nullable Integer unmeasured,
            Optional<UnmatchedNamespaces> unmatched,
            Instant at,
            @Nullable GpuBudgetStatus before) {
        BudgetState state = state(namespaces, unmeasured, null, at);
        return Publication.document(
                state,
                at,
                Alerts.at(state, at),
                unmatched,
                Optional.empty(),
                Optional.empty(),
                before);
    }

    private static BudgetState state(
            List<NamespaceUse> namespaces,
            @Nullable Integer unmeasured,
            @Nullable InvalidSpec invalidSpec,
            Instant at) {
        BudgetLine line = BudgetLine.unused(START, BUDGET.spec().terms().orElseThrow());
        return new BudgetState(
                "a",
                BUDGET.uid(),
                1,
                BUDGET.spec(),
                at,
                BUDGET.periods().at(START),
                Optional.of(line),
                null,
                namespaces,
                List.of(),
                unmeasured,
                invalidSpec,
                List.of());
    }

    private static Condition measured(GpuBudgetStatus status) {
        return condition(status, BudgetConditions.UNTRUSTED).orElseThrow();
    }

    private static Optional<Condition> condition(GpuBudgetStatus status, String type) {
        return Objects.requireNonNull(status.conditions()).stream()
                .filter(it -> it.type().equals(type))
                .findFirst();
    }

    private static Condition found(List<String> missing, List<String> excluded) {
        return condition(
                        status(
                                0,
                                Optional.of(new UnmatchedNamespaces(missing, excluded)),
                                START,
                                null),
                        BudgetConditions.FOUND)
                .orElseThrow();
    }

    @Test
    void eachNamespaceShowsWhatItHoldsAndTheBudgetShowsTheSum() {
        GpuBudgetStatus status =
                status(
                        List.of(
                                new NamespaceUse("team-a", new GpuTime(60_000_000), 1_500_000),
                                new NamespaceUse("team-b", GpuTime.ZERO, 250_000)),
                        0,
                        Optional.empty(),
                        START.plusSeconds(60),
                        null);

        assertThat(status.rate()).isEqualTo(1_750_000);
        assertThat(status.rateGpus()).isEqualTo("1.75");
        assertThat(status.namespaces())
                .containsExactly(
                        new GpuBudgetStatus.NamespaceUse("team-a", 60_000_000, "1.000", 1_500_000),
                        new GpuBudgetStatus.NamespaceUse("team-b", 0, "0.000", 250_000));
    }

    @Test
    void beforeTheFirstSettlementTheStatusOfMeteringIsUnknown() {
        assertThat(measured(status(null, START, null)).status()).isEqualTo("Unknown");
    }

    @Test
    void oneUnmeasuredPodIsNamedInTheSingularAndSeveralInThePlural() {
        assertThat(measured(status(1, START, null)))
                .extracting(Condition::status, Condition::message)
                .containsExactly(
                        "True",
                        "At the last settlement 1 running pod was measured by no node agent and charged by allocation");
        assertThat(measured(status(2, START, null)).message()).contains("2 running pods were");
        assertThat(measured(status(0, START, null)).status()).isEqualTo("False");
    }

    @Test
    void afterARestartTheLastConditionHoldsUntilTheNextSettlement() {
        GpuBudgetStatus before = status(2, START, null);

        assertThat(measured(status(null, START.plusSeconds(60), before)))
                .isEqualTo(measured(before));
    }

    @Test
    void aNameWithoutANamespaceIsReported() {
        assertThat(found(List.of(), List.of()).status()).isEqualTo("True");
        assertThat(found(List.of("team-c", "taem-a"), List.of("kube-system")))
                .extracting(Condition::status, Condition::reason, Condition::message)
                .containsExactly(
                        "False",
                        "NotFound",
                        "There is no namespace team-c, taem-a; GPUSharing leaves alone the pods of kube-system");
        assertThat(found(List.of(), List.of("kube-system")).reason()).isEqualTo("Excluded");
    }

    @Test
    void ofManyNamesWithoutANamespaceTenAreReported() {
        List<String> missing = IntStream.rangeClosed(1, 13).mapToObj(i -> "team-" + i).toList();

        assertThat(found(missing, List.of()).message()).endsWith("team-9, team-10 and 3 more");
        assertThat(found(missing.subList(0, 10), List.of()).message()).endsWith("team-10");
    }

    private static Optional<UnmatchedNamespaces> missing(String... names) {
        return Optional.of(new UnmatchedNamespaces(List.of(names), List.of()));
    }

    @Test
    void aBudgetOnWhichNoNamespaceDrawsIsInactiveAndSaysWhy() {
        GpuBudgetStatus drawnOn = status(0, missing(), START, null);
        GpuBudgetStatus idle = status(0, missing("team-a"), START, null);

        assertThat(drawnOn.standing()).isEqualTo("InBudget");
        assertThat(drawnOn.problem()).isNull();
        assertThat(idle.standing()).isEqualTo("Inactive");
        assertThat(idle.problem()).isEqualTo("There is no namespace team-a");
    }

    @Test
    void anInactiveBudgetIsOneUntilTheNamespacesAreListed() {
        GpuBudgetStatus idle = status(0, missing("team-a"), START, null);
        Instant later = START.plusSeconds(60);

        GpuBudgetStatus restarted = status(0, Optional.empty(), later, idle);

        assertThat(restarted.standing()).isEqualTo("Inactive");
        assertThat(restarted.problem()).isEqualTo(idle.problem());
        assertThat(status(0, missing(), later, restarted).standing()).isEqualTo("InBudget");
    }

    @Test
    void aBudgetThatAnOlderOneTakesAllNamespacesFromIsInactive() {
        BudgetState alone = state(List.of(), 0, null, START);
        var taken =
                new BudgetState(
                        alone.name(),
                        alone.uid(),
                        alone.generation(),
                        alone.spec(),
                        alone.asOf(),
                        alone.period(),
                        alone.line(),
                        alone.exhaustedSince(),
                        alone.namespaces(),
                        List.of(new Conflict("team-a", "older")),
                        alone.unmeasured(),
                        alone.invalidSpec(),
                        alone.withoutQuota());

        GpuBudgetStatus status =
                Publication.document(
                        taken,
                        START,
                        Alerts.at(taken, START),
                        missing(),
                        Optional.empty(),
                        Optional.empty(),
                        null);

        assertThat(status.standing()).isEqualTo("Inactive");
        assertThat(status.problem()).isEqualTo("team-a draws on the older budget older");
    }

    @Test
    void aMisspelledBudgetDoesNotLookHealthy() {
        GpuBudgetStatus status =
                offering(
                        Optional.empty(),
                        new InvalidSpec("spec.period.timeZone", "Europe/Berln", "an IANA name"),
                        START,
                        null);

        assertThat(status.standing()).isEqualTo("Misspelled");
        assertThat(status.problem())
                .startsWith("spec.period.timeZone is \"Europe/Berln\"; use an IANA name");
    }

    @Test
    void theConditionOfTheNamesHoldsUntilTheNamespacesAreListed() {
        var unmatched = Optional.of(new UnmatchedNamespaces(List.of("taem-a"), List.of()));
        GpuBudgetStatus before = status(0, unmatched, START, null);

        assertThat(condition(status(0, START, null), BudgetConditions.FOUND)).isEmpty();
        assertThat(condition(status(0, START.plusSeconds(60), before), BudgetConditions.FOUND))
                .isEqualTo(condition(before, BudgetConditions.FOUND));
    }

    private static GpuBudgetStatus offering(
            Optional<Uncounted> uncounted,
            @Nullable InvalidSpec invalidSpec,
            Instant at,
            @Nullable GpuBudgetStatus before) {
        BudgetState state = state(List.of(), 0, invalidSpec, at);
        return Publication.document(
                state,
                at,
                Alerts.at(state, at),
                Optional.empty(),
                uncounted,
                Optional.empty(),
                before);
    }

    @Test
    void uncountedGpusAreReportedWhileThereAreAny() {
        var some = Optional.of(Offered.uncounted(List.of(Offered.node("nvidia.com/gpu", 8))));

        assertThat(condition(offering(some, null, START, null), BudgetConditions.UNCOUNTED))
                .get()
                .extracting(Condition::status, Condition::reason, Condition::message)
                .containsExactly(
                        "True",
                        "ResourceNotRead",
                        "Pods that ask for these get GPUs and are charged nothing: nvidia.com/gpu on 1 node");
        assertThat(
                        condition(
                                offering(
                                        Optional.of(Offered.uncounted(List.of())),
                                        null,
                                        START,
                                        null),
                                BudgetConditions.UNCOUNTED))
                .isEmpty();
    }

    @Test
    void theConditionOfUncountedGpusHoldsUntilTheNodesAreListed() {
        var some = Optional.of(Offered.uncounted(List.of(Offered.node("nvidia.com/gpu", 8))));
        GpuBudgetStatus before = offering(some, null, START, null);

        GpuBudgetStatus after = offering(Optional.empty(), null, START.plusSeconds(60), before);

        assertThat(condition(after, BudgetConditions.UNCOUNTED))
                .isEqualTo(condition(before, BudgetConditions.UNCOUNTED));
        assertThat(BudgetConditions.message(after, BudgetConditions.UNCOUNTED))
                .contains("nvidia.com/gpu on 1 node");
    }

    @Test
    void aBudgetThatIsNotUnderstoodSaysNothingOfUncountedGpus() {
        var some = Optional.of(Offered.uncounted(List.of(Offered.node("nvidia.com/gpu", 8))));

        assertThat(
                        BudgetConditions.message(
                                offering(
                                        some,
                                        new InvalidSpec("spec.gpuMinutes", "x", "1200"),
                                        START,
                                        null),
                                BudgetConditions.UNCOUNTED))
                .isEmpty();
    }

    private static Optional<Condition> unreadable(
            Optional<String> sentence, Instant at, @Nullable GpuBudgetStatus before) {
        return condition(unread(sentence, at, before), BudgetConditions.UNREADABLE);
    }

    private static GpuBudgetStatus unread(
            Optional<String> sentence, Instant at, @Nullable GpuBudgetStatus before) {
        BudgetState state = state(List.of(), 0, null, at);
        return Publication.document(
                state,
                at,
                Alerts.at(state, at),
                Optional.empty(),
                Optional.empty(),
                sentence,
                before);
    }

    @Test
    void objectsThatCannotBeReadAreReportedWhileThereAreAny() {
        assertThat(unreadable(Optional.of("1 object cannot be read"), START, null))
                .get()
                .extracting(Condition::status, Condition::reason, Condition::message)
                .containsExactly("True", "Unreadable", "1 object cannot be read");
        assertThat(unreadable(Optional.of(""), START, null)).isEmpty();
    }

    @Test
    void theConditionOfUnreadableObjectsHoldsUntilANewLeaderHasLooked() {
        GpuBudgetStatus before = unread(Optional.of("1 object cannot be read"), START, null);
        Instant later = START.plusSeconds(60);

        assertThat(unreadable(Optional.empty(), later, before))
                .isPresent()
                .isEqualTo(condition(before, BudgetConditions.UNREADABLE));
        assertThat(unreadable(Optional.of(""), later, before)).isEmpty();
    }
}
