package io.gpusharing.cli.ledger;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.gpusharing.cli.budget.Span;
import io.gpusharing.cli.cluster.Cluster;
import io.gpusharing.cli.cluster.ClusterOptions;
import io.gpusharing.cli.console.Console;
import io.gpusharing.cli.console.Failure;
import io.gpusharing.cli.console.OutputOptions;
import io.gpusharing.cli.console.Table;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Whether the ledger is sound. */
@Command(
        name = "verify",
        mixinStandardHelpOptions = true,
        description = {
            "Whether what is stored beside the ledger's entries is what they add up to, as the last hourly verification found it.",
            "Ends with 1 where anything differs, and where it was not verified for three hours."
        })
public final class VerifyCommand implements Runnable {

    private static final List<String> HEADINGS = List.of("KIND", "WHERE", "STORED", "RECOMPUTED");

    /** It is done every hour. */
    private static final Duration OLD = Duration.ofHours(3);

    @Mixin private final ClusterOptions options = new ClusterOptions();
    @Mixin private final OutputOptions output = new OutputOptions();

    private final Console console;
    private final Clock clock;

    public VerifyCommand(Console console, Clock clock) {
        this.console = console;
        this.clock = clock;
    }

    /**
     * As the ledger gives it.
     *
     * @param since what is older was dropped; null if everything is there
     * @param from what is older was verified earlier; null if everything was verified now
     * @param unreadable what cannot be read now; null if the timekeeper does not say
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Report(
            String at,
            @Nullable String since,
            @Nullable String from,
            boolean sound,
            long entries,
            List<Difference> differences,
            @Nullable List<UnreadableKind> unreadable) {}

    /** Something that is not as the entries say. */
    record Difference(String kind, String where, String stored, String recomputed) {}

    /** Objects of one kind that the timekeeper cannot read, and the first of them. */
    record UnreadableKind(String kind, int count, List<String> some) {}

    @Override
    public void run() {
        Report report;
        try (Cluster cluster = options.connect()) {
            report = new Ledger(cluster).verification();
        }
        output.print(
                console,
                new Table(
                        HEADINGS,
                        report.differences().stream()
                                .map(it ->
                                        List.of(
                                                it.kind(),
                                                it.where(),
                                                it.stored(),
                                                it.recomputed()))
                                .toList(),
                        Set.of()),
                report);
        if (report.unreadable() != null) {
            report.unreadable().forEach(this::tell);
        }
        Duration age = age(Instant.parse(report.at()));
        String when = "verified at %s, %s ago".formatted(report.at(), Span.text(age));
        int differences = report.differences().size();
        if (!report.sound()) {
            throw new Failure(
                    "The ledger is not sound: %s, %s"
                            .formatted(
                                    differences == 1
                                            ? "1 difference"
                                            : differences + " differences",
                                    when));
        }
        if (age.compareTo(OLD) > 0) {
            throw new Failure(
                    "The ledger was sound when it was last %s; the timekeeper's log says why it was not since"
                            .formatted(when));
        }
        console.note(
                "The ledger is sound, %s: %d entries%s"
                        .formatted(
                                when,
                                report.entries(),
                                report.from() == null ? "" : " since " + report.from()));
    }

    private void tell(UnreadableKind objects) {
        int others = objects.count() - objects.some().size();
        console.note(
                "Cannot be read now, of kind %s: %d".formatted(objects.kind(), objects.count()));
        objects.some().forEach(it -> console.note("  " + it));
        if (others > 0) {
            console.note("  and %d more".formatted(others));
        }
    }

    private Duration age(Instant at) {
        Duration age = Duration.between(at, clock.instant());
        return age.isNegative() ? Duration.ZERO : age;
    }
}
