package io.gpusharing.cli;

import static java.util.Objects.requireNonNullElse;

import io.gpusharing.cli.console.Console;
import picocli.CommandLine.Command;

/** Says which release this is. */
@Command(
        name = "version",
        mixinStandardHelpOptions = true,
        description = "Says which release this is.")
final class VersionCommand implements Runnable {

    static final String TEXT =
            "kubectl-gpusharing "
                    + requireNonNullElse(
                            VersionCommand.class.getPackage().getImplementationVersion(),
                            "unreleased");

    private final Console console;

    VersionCommand(Console console) {
        this.console = console;
    }

    @Override
    public void run() {
        console.out().println(TEXT);
    }
}
