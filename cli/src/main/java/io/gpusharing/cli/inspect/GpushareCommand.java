package io.gpusharing.cli.inspect;

import io.gpusharing.cli.cluster.Cluster;
import io.gpusharing.cli.cluster.ClusterOptions;
import io.gpusharing.cli.console.Console;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code kubectl inspect gpushare}, for those who know gpushare's. */
@Command(
        name = "kubectl inspect gpushare",
        mixinStandardHelpOptions = true,
        description = {
            "The GPU memory that nodes share, in the tables of gpushare.",
            "kubectl gpusharing inspect says more."
        })
public final class GpushareCommand implements Runnable {

    @Mixin private final ClusterOptions options = new ClusterOptions();

    @Option(names = "-d", description = "A line for each pod.")
    private boolean details;

    @Parameters(arity = "0..1", paramLabel = "NODE", description = "One node instead of all.")
    private @Nullable String node;

    private final Console console;

    public GpushareCommand(Console console) {
        this.console = console;
    }

    @Override
    public void run() {
        Inspection found;
        try (Cluster cluster = options.connect()) {
            found = new InspectionReader(cluster, node).read();
        }
        console.out()
                .print(
                        details
                                ? GpushareTable.details(found.nodes())
                                : GpushareTable.summary(found.nodes()));
        found.notes().forEach(console::note);
    }
}
