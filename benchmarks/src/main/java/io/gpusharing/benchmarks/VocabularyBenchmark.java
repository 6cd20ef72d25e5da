package io.gpusharing.benchmarks;

import io.gpusharing.budget.BudgetLine;
import io.gpusharing.budget.GpuTime;
import io.gpusharing.budget.PeriodRule;
import io.gpusharing.budget.PeriodRule.Unit;
import io.gpusharing.budget.Standing;
import io.gpusharing.budget.Terms;
import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.Quantity;
import io.gpusharing.request.Verdict;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.request.grammar.VcudaGrammar;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What every admission asks of {@code common}: the verdict on a pod and the standing of a budget.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
public class VocabularyBenchmark {

    private static final Instant NOON = Instant.parse("2026-03-10T12:00:00Z");

    private final RequestGrammars grammars = new RequestGrammars(List.of(new VcudaGrammar()));

    private final PodRequest pod =
            new PodRequest(
                    List.of(
                            new ContainerRequest("web", Kind.App, Map.of(), Map.of()),
                            new ContainerRequest(
                                    "cuda",
                                    Kind.App,
                                    Map.of(
                                            VcudaGrammar.CORE, Quantity.of(50),
                                            VcudaGrammar.MEMORY, Quantity.of(15)),
                                    Map.of())));

    private final BudgetLine line =
            BudgetLine.unused(
                    NOON,
                    new Terms(
                            new PeriodRule(
                                    Unit.Month,
                                    ZoneOffset.UTC,
                                    LocalDateTime.parse("2026-01-01T00:00:00")),
                            GpuTime.ofMinutes("1200"),
                            GpuTime.ZERO,
                            25));

    private final Instant later = NOON.plusSeconds(3_600);

    /** Two containers, one of which asks for half a GPU. */
    @Benchmark
    public Verdict verdict() {
        return grammars.judge(pod);
    }

    /** Within the period, which is the usual case. */
    @Benchmark
    public Standing standing() {
        return line.standingAt(later);
    }
}
