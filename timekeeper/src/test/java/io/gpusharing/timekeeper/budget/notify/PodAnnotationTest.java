package io.gpusharing.timekeeper.budget.notify;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpusharing.Names;
import io.gpusharing.budget.BudgetLine;
import io.gpusharing.budget.PeriodRule.Unit;
import io.gpusharing.kubernetes.PodFacts;
import io.gpusharing.timekeeper.budget.TestBudgets;
import io.gpusharing.timekeeper.budget.account.Assignment.Conflict;
import io.gpusharing.timekeeper.budget.account.Budget;
import io.gpusharing.timekeeper.budget.account.BudgetState;
import io.gpusharing.timekeeper.testing.Pods;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class PodAnnotationTest {

    private static final Instant NOW = Instant.parse("2026-03-02T10:00:00Z");
    private static final Duration QUARTER = Duration.ofMinutes(15);

    private static PodFacts running(String namespace, @Nullable String annotation) {
        return Pods.waiting(namespace, 100, 0)
                .boundAt(NOW.minusSeconds(60))
                .facts(
                        annotation == null
                                ? Map.of()
                                : Map.of(Names.EXHAUSTED_AT_ANNOTATION, annotation));
    }

    /** Which annotation a pod of a budget that ends then, or never if null, still needs. */
    private static List<Optional<Instant>> missing(
            @Nullable String annotation, @Nullable Instant end) {
        return PodAnnotation.missing(
                        List.of(running("team-a", annotation)),
                        end == null ? Map.of() : Map.of("team-a", end),
                        NOW)
                .stream()
                .map(it -> Optional.ofNullable(it.end()))
                .toList();
    }

    @Test
    void theExhaustionIsAnnotatedFromAQuarterOfAnHourBeforeAndAfterIt() {
        assertThat(missing(null, NOW.plus(QUARTER).plusSeconds(1))).isEmpty();
        assertThat(missing(null, NOW.plus(QUARTER)))
                .containsExactly(Optional.of(NOW.plus(QUARTER)));
        assertThat(missing(null, NOW.minusSeconds(1)))
                .containsExactly(Optional.of(NOW.minusSeconds(1)));
        assertThat(missing(null, null)).isEmpty();
    }

    @Test
    void anAnnotationIsRenewedOnlyIfItIsOffByMoreThanHalfAMinute() {
        Instant end = NOW.plusSeconds(300);

        assertThat(missing(end.plusSeconds(30).toString(), end)).isEmpty();
        assertThat(missing(end.minusSeconds(30).toString(), end)).isEmpty();
        assertThat(missing(end.plusSeconds(31).toString(), end)).containsExactly(Optional.of(end));
        assertThat(missing(end.minusSeconds(31).toString(), end)).containsExactly(Optional.of(end));
    }

    @Test
    void onceTheBudgetIsExhaustedTheAnnotationHasTheExactInstant() {
        assertThat(missing(NOW.plusSeconds(20).toString(), NOW)).containsExactly(Optional.of(NOW));
        assertThat(missing(NOW.toString(), NOW)).isEmpty();
    }

    @Test
    void anAnnotationIsRemovedWhenTheExhaustionIsFarAgainWithoutFlickering() {
        Instant edge = NOW.plus(QUARTER);

        assertThat(missing(edge.toString(), edge.plusSeconds(30))).isEmpty();
        assertThat(missing(edge.toString(), edge.plusSeconds(31)))
                .containsExactly(Optional.empty());
        assertThat(missing(edge.toString(), null)).containsExactly(Optional.empty());
    }

    @Test
    void anUnreadableAnnotationIsReplacedOrRemoved() {
        assertThat(missing("never", NOW)).containsExactly(Optional.of(NOW));
        assertThat(missing("", null)).containsExactly(Optional.empty());
        assertThat(missing("+1000000000-12-31T23:59:59Z", NOW)).containsExactly(Optional.of(NOW));
    }

    @Test
    void onlyPodsThatHoldAGpuAreAnnotated() {
        Pods pod = Pods.waiting("team-a", 100, 0);
        Pods ended = pod.boundAt(NOW.minusSeconds(60)).finishedAt(NOW.minusSeconds(1));

        assertThat(
                        PodAnnotation.missing(
                                List.of(
                                        pod.facts(),
                                        ended.facts(),
                                        ended.facts(
                                                Map.of(
                                                        Names.EXHAUSTED_AT_ANNOTATION,
                                                        "2020-01-01T00:00:00Z"))),
                                Map.of("team-a", NOW),
                                NOW))
                .isEmpty();
    }

    @Test
    void aSmallNamespaceDoesNotWaitForALargeOne() {
        List<PodFacts> pods =
                Stream.concat(
                                Stream.generate(() -> running("large", null)).limit(100),
                                Stream.generate(() -> running("small", null)).limit(2))
                        .toList();

        assertThat(PodAnnotation.missing(pods, Map.of("large", NOW, "small", NOW), NOW))
                .hasSize(102)
                .extracting(annotation -> annotation.pod().namespace())
                .startsWith("large", "small", "large", "small", "large", "large");
    }

    /** One GPU-minute a day. */
    private static BudgetState state(long rate, List<Conflict> conflicts) {
        Instant start = Instant.parse("2026-03-02T00:00:00Z");
        Budget budget =
                TestBudgets.budget("a", start, "1", Unit.Day, "UTC", "0", 25, "team-a", "team-b")
                        .budget();
        return new BudgetState(
                "a",
                "uid-a",
                1,
                budget.spec(),
                start,
                budget.periods().at(start),
                Optional.of(
                        BudgetLine.unused(start, budget.spec().terms().orElseThrow())
                                .withRate(rate)),
                null,
                List.of(),
                conflicts,
                null,
                null,
                List.of());
    }

    @Test
    void theEndIsThatOfTheBudgetThatPaysForTheNamespaceToTheSecond() {
        BudgetState state = state(700_000, List.of());

        assertThat(PodAnnotation.ends(List.of(state), state.asOf()))
                .isEqualTo(
                        Map.of(
                                "team-a", Instant.parse("2026-03-02T00:01:25Z"),
                                "team-b", Instant.parse("2026-03-02T00:01:25Z")));
        assertThat(
                        PodAnnotation.ends(
                                List.of(state(700_000, List.of(new Conflict("team-b", "older")))),
                                state.asOf()))
                .containsOnlyKeys("team-a");
        assertThat(PodAnnotation.ends(List.of(state(0, List.of())), state.asOf())).isEmpty();
    }

    /** While the database is away, states do not change; time does. */
    @Test
    void aNewPeriodChangesTheExhaustionBeforeItCanBeStored() {
        // A minute a day, used up by noon: a debt of 25 % is carried.
        BudgetState state = state(1_400, List.of());

        assertThat(
                        PodAnnotation.ends(List.of(state), Instant.parse("2026-03-02T23:59:59Z"))
                                .get("team-a"))
                .isEqualTo("2026-03-02T11:54:17Z");
        assertThat(
                        PodAnnotation.ends(List.of(state), Instant.parse("2026-03-03T00:00:00Z"))
                                .get("team-a"))
                .isEqualTo("2026-03-03T08:55:42Z");
    }
}
