package io.gpusharing.cli.budget;

import io.gpusharing.budget.GpuTime;
import io.gpusharing.cli.cluster.Cluster;
import io.gpusharing.cli.cluster.ClusterOptions;
import io.gpusharing.cli.cluster.Kind;
import io.gpusharing.cli.cluster.OwnName;
import io.gpusharing.cli.console.Console;
import io.gpusharing.cli.console.Failure;
import io.gpusharing.cli.console.When;
import io.gpusharing.kubernetes.GpuBudget;
import io.gpusharing.kubernetes.GpuGrant;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Gives a budget more time: makes a {@code GpuGrant}. */
@Command(
        name = "grant",
        mixinStandardHelpOptions = true,
        description = {
            "Gives a budget GPU-minutes on top of its own: makes a GpuGrant, which cannot be changed.",
            "kubectl delete gpugrant NAME takes away what is left of it."
        })
public final class GrantCommand implements Runnable {

    @Mixin private final ClusterOptions options = new ClusterOptions();
    @Mixin private final OwnName name = new OwnName();

    @Parameters(index = "0", paramLabel = "BUDGET", description = "Name of the GpuBudget.")
    private String budget = "";

    @Parameters(
            index = "1",
            paramLabel = "MINUTES",
            description = "Minutes of one whole GPU, for instance 300 or 0.5.")
    private String minutes = "";

    @Option(
            names = "--reason",
            required = true,
            paramLabel = "TEXT",
            description = "For whoever reads the ledger later.")
    private String reason = "";

    @Option(
            names = "--not-before",
            paramLabel = "WHEN",
            description =
                    "2026-12-01, a day of the budget's time zone, or 2026-12-01T12:00:00Z; at once without it.")
    private @Nullable String notBefore;

    @Option(
            names = "--expires-at",
            paramLabel = "WHEN",
            description =
                    "First instant at which it does not count; the end of the period without it.")
    private @Nullable String expiresAt;

    private final Console console;
    private final Clock clock;

    public GrantCommand(Console console, Clock clock) {
        this.console = console;
        this.clock = clock;
    }

    @Override
    public void run() {
        GpuTime amount = amount();
        try (Cluster cluster = options.connect()) {
            GpuBudget found = budget(cluster);
            ZoneId zone = BudgetZone.of(found.getSpec());
            Instant from = notBefore == null ? null : When.read("--not-before", notBefore, zone);
            Instant until = expiresAt == null ? null : When.read("--expires-at", expiresAt, zone);
            GpuGrant grant = grant(from, until);
            GpuGrant made = there(cluster, grant);
            if (made == null) {
                requireToCount(until);
                made = cluster.createOnce(Kind.GPUGRANTS, grant);
            }
            if (!grant.getSpec().equals(made.getSpec())) {
                throw new Failure(
                        "There is another gpugrant %s already, and it cannot be changed; give it another --name"
                                .formatted(made.getMetadata().getName()));
            }
            console.out()
                    .println(
                            "gpugrant/%s: %s has %s GPU-minutes more%s%s"
                                    .formatted(
                                            made.getMetadata().getName(),
                                            budget,
                                            amount.minutes(),
                                            from == null ? "" : " from " + from + " on",
                                            until == null ? "" : ", until " + until));
            if (from == null || !from.isAfter(clock.instant())) {
                LoweredPods.left(cluster, budget, found.getSpec().namespaces())
                        .forEach(console::note);
            }
        }
    }

    /** The one of a script that runs again; null if there is none. */
    private @Nullable GpuGrant there(Cluster cluster, GpuGrant grant) {
        return name.isGiven()
                ? cluster.ask("get", Kind.GPUGRANTS, client -> client.resource(grant).get())
                : null;
    }

    /** Parts of a second are cut off. */
    private void requireToCount(@Nullable Instant until) {
        if (until != null && !until.truncatedTo(ChronoUnit.SECONDS).isAfter(clock.instant())) {
            throw new Failure(
                    "--expires-at is %s, which has passed, so that nothing would be granted"
                            .formatted(until));
        }
    }

    private GpuTime amount() {
        try {
            GpuTime amount = GpuTime.ofMinutes(minutes);
            if (amount.isPositive()) {
                return amount;
            }
        } catch (IllegalArgumentException e) {
            throw new Failure("MINUTES: " + e.getMessage());
        }
        throw new Failure(
                "MINUTES is above 0, not %s; to take time away, lower the budget"
                        .formatted(minutes));
    }

    private GpuGrant grant(@Nullable Instant from, @Nullable Instant until) {
        var grant = new GpuGrant();
        grant.setMetadata(name.metadata(budget));
        grant.setSpec(
                new GpuGrant.Spec(
                        budget,
                        minutes,
                        reason,
                        from == null ? null : from.toString(),
                        until == null ? null : until.toString()));
        return grant;
    }

    /** A grant to none would wait for one of that name. */
    private GpuBudget budget(Cluster cluster) {
        GpuBudget found =
                cluster.ask(
                        "get",
                        Kind.GPUBUDGETS,
                        client -> client.resources(GpuBudget.class).withName(budget).get());
        if (found == null) {
            throw new Failure(
                    "There is no GpuBudget %s; kubectl gpusharing budgets -A shows all"
                            .formatted(budget));
        }
        return found;
    }
}
