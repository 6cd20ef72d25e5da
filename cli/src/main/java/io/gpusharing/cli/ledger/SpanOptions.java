package io.gpusharing.cli.ledger;

import io.gpusharing.budget.GpuBudgetSpec;
import io.gpusharing.budget.InvalidSpec;
import io.gpusharing.budget.Period;
import io.gpusharing.budget.PeriodRule;
import io.gpusharing.cli.budget.BudgetZone;
import io.gpusharing.cli.cluster.Cluster;
import io.gpusharing.cli.cluster.Kind;
import io.gpusharing.cli.cluster.NotAllowed;
import io.gpusharing.cli.console.Failure;
import io.gpusharing.cli.console.When;
import io.gpusharing.kubernetes.GpuBudget;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Of which time of a budget is asked. */
final class SpanOptions {

    @Option(
            names = "--from",
            paramLabel = "WHEN",
            description = "2026-11-01, a day of the budget's time zone, or 2026-11-01T12:00:00Z.")
    private @Nullable String from;

    @Option(names = "--to", paramLabel = "WHEN", description = "Now without it.")
    private @Nullable String to;

    @Option(
            names = "--last-period",
            description = "The period before the present one, instead of --from and --to.")
    private boolean lastPeriod;

    /**
     * As the ledger is asked; what is not said is left to it.
     *
     * @param budget name of the one that is asked about
     */
    Map<String, String> query(Cluster cluster, String budget, Instant now) {
        var query = new TreeMap<String, String>();
        if (lastPeriod) {
            if (from != null || to != null) {
                throw new Failure(
                        "--last-period has its own begin and end; leave --from and --to out");
            }
            Period last = lastPeriod(cluster, budget, now);
            query.put("from", last.start().toString());
            query.put("to", String.valueOf(last.end()));
            return query;
        }
        if (from == null && to == null) {
            return query;
        }
        ZoneId zone =
                When.isDay(from) || When.isDay(to)
                        ? spec(cluster, budget).map(BudgetZone::of).orElse(ZoneOffset.UTC)
                        : ZoneOffset.UTC;
        if (from != null) {
            query.put("from", When.read("--from", from, zone).toString());
        }
        if (to != null) {
            query.put("to", When.read("--to", to, zone).toString());
        }
        return query;
    }

    private static Period lastPeriod(Cluster cluster, String budget, Instant now) {
        GpuBudgetSpec spec =
                spec(cluster, budget)
                        .orElseThrow(() ->
                                new Failure(
                                        "The spec of budget %s cannot be read here; say --from and --to"
                                                .formatted(budget)));
        InvalidSpec.of(spec)
                .ifPresent(invalid -> {
                    throw new Failure("%s: %s".formatted(budget, invalid.message()));
                });
        var period = spec.period();
        var rule =
                new PeriodRule(
                        period.unit(),
                        ZoneId.of(period.timeZone()),
                        LocalDateTime.parse(period.anchor()));
        Period present = rule.at(now);
        if (present.end() == null) {
            throw new Failure("Budget %s has one period without an end".formatted(budget));
        }
        return rule.at(present.start().minusNanos(1));
    }

    /** Empty if there is no such budget, or the user may not see it: the ledger says so. */
    private static Optional<GpuBudgetSpec> spec(Cluster cluster, String budget) {
        try {
            return Optional.ofNullable(
                            cluster.ask(
                                    "get",
                                    Kind.GPUBUDGETS,
                                    client ->
                                            client.resources(GpuBudget.class)
                                                    .withName(budget)
                                                    .get()))
                    .map(GpuBudget::getSpec);
        } catch (NotAllowed e) {
            return Optional.empty();
        }
    }
}
