package io.gpusharing.cli;

import io.gpusharing.cli.budget.BudgetsCommand;
import io.gpusharing.cli.budget.GrantCommand;
import io.gpusharing.cli.console.Console;
import io.gpusharing.cli.console.Failure;
import io.gpusharing.cli.console.Format;
import io.gpusharing.cli.console.Pause;
import io.gpusharing.cli.explain.ExplainCommand;
import io.gpusharing.cli.explain.QuoteCommand;
import io.gpusharing.cli.inspect.DevicesCommand;
import io.gpusharing.cli.inspect.GpushareCommand;
import io.gpusharing.cli.inspect.InspectCommand;
import io.gpusharing.cli.ledger.CorrectCommand;
import io.gpusharing.cli.ledger.EvictionsCommand;
import io.gpusharing.cli.ledger.ProcessesCommand;
import io.gpusharing.cli.ledger.StatementCommand;
import io.gpusharing.cli.ledger.TopCommand;
import io.gpusharing.cli.ledger.VerifyCommand;
import io.gpusharing.cli.ledger.WasteCommand;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * {@code kubectl gpusharing}, and {@code kubectl inspect gpushare} where it is called so. Ends with
 * 0, with 1 after an error, with 2 if the command line is wrong.
 */
@Command(
        name = "kubectl gpusharing",
        description = "Budgets of GPU time, and who has which GPU.",
        mixinStandardHelpOptions = true,
        synopsisSubcommandLabel = "COMMAND")
public final class Program {

    private final Console console;
    private final boolean completes;
    private final String[] args;
    private final CommandLine commands;

    /**
     * @param calledAs name of the program that the user has called
     * @param pause between two answers of a command that is watched
     * @param args of the user
     */
    Program(String calledAs, Console console, Clock clock, Pause pause, String... args) {
        this.console = console;
        this.completes = calledAs.equals("kubectl_complete-gpusharing");
        this.args = args.clone();
        // kubectl finds the first by `inspect gpushare`; krew makes the second for
        // `inspect-gpushare`.
        commands =
                calledAs.equals("kubectl-inspect-gpushare")
                                || calledAs.equals("kubectl-inspect_gpushare")
                        ? new CommandLine(new GpushareCommand(console))
                        : new CommandLine(this);
        if (commands.getCommand() == this) {
            Map<String, Supplier<Runnable>> all = subcommands(console, clock, pause);
            // What picocli reads of a command takes 30 ms, and few have all of them.
            String called = args.length == 0 || completes ? "" : args[0];
            all.forEach((name, command) -> {
                if (name.equals(called) || !all.containsKey(called)) {
                    commands.addSubcommand(command.get());
                }
            });
        }
        commands.getCommandSpec().version(VersionCommand.TEXT);
        commands.getSubcommands()
                .values()
                .forEach(command -> command.getCommandSpec().version(VersionCommand.TEXT));
        commands.setOut(console.out())
                .setErr(console.err())
                .registerConverter(Format.class, Format::of)
                .setUsageHelpAutoWidth(true)
                .setColorScheme(CommandLine.Help.defaultColorScheme(Ansi.OFF))
                .setParameterExceptionHandler((e, words) -> {
                    String command = e.getCommandLine().getCommandSpec().qualifiedName();
                    return error(
                            e.getMessage() + meant(e) + "; see " + command + " --help",
                            ExitCode.USAGE);
                })
                .setExecutionExceptionHandler((e, command, parsed) ->
                        error(
                                e instanceof Failure failure
                                        ? failure.getMessage()
                                        : "This is a bug: " + e,
                                ExitCode.SOFTWARE));
    }

    /** What somebody may have meant who has mistyped a command or an option. */
    private static String meant(ParameterException e) {
        return e instanceof UnmatchedArgumentException unmatched
                ? unmatched.getSuggestions().stream()
                        .findFirst()
                        .map(it -> "; did you mean %s?".formatted(it))
                        .orElse("")
                : "";
    }

    /** By name, in the order in which people are shown them. */
    private static Map<String, Supplier<Runnable>> subcommands(
            Console console, Clock clock, Pause pause) {
        var all = new LinkedHashMap<String, Supplier<Runnable>>();
        all.put("budgets", () -> new BudgetsCommand(console, clock, pause));
        all.put("inspect", () -> new InspectCommand(console, pause));
        all.put("devices", () -> new DevicesCommand(console, pause));
        all.put("explain", () -> new ExplainCommand(console, clock));
        all.put("quote", () -> new QuoteCommand(console, clock));
        all.put("top", () -> new TopCommand(console, clock, pause));
        all.put("processes", () -> new ProcessesCommand(console, pause));
        all.put("statement", () -> new StatementCommand(console, clock));
        all.put("waste", () -> new WasteCommand(console, clock, pause));
        all.put("evictions", () -> new EvictionsCommand(console, pause));
        all.put("grant", () -> new GrantCommand(console, clock));
        all.put("correct", () -> new CorrectCommand(console, clock, pause));
        all.put("verify", () -> new VerifyCommand(console, clock));
        all.put("version", () -> new VersionCommand(console));
        return all;
    }

    private int error(String message, int code) {
        console.note("error: " + message.strip().replaceAll("\\s*\\R\\s*", "; "));
        return code;
    }

    static void main(String[] args) {
        // Only who has started Java knows whether there is a terminal on the other side.
        var console =
                new Console(
                        new PrintWriter(System.out, false, StandardCharsets.UTF_8),
                        new PrintWriter(System.err, true, StandardCharsets.UTF_8),
                        Boolean.getBoolean("colours"));
        var program =
                new Program(
                        System.getProperty("calledAs", ""),
                        console,
                        Clock.systemUTC(),
                        Program::slept,
                        args);
        int code = program.run();
        console.out().flush();
        System.exit(code);
    }

    private static boolean slept(Duration length) {
        try {
            Thread.sleep(length);
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    int run() {
        if (completes) {
            Completion.of(commands.getCommandSpec(), args).forEach(console.out()::println);
            return ExitCode.OK;
        }
        return commands.execute(args);
    }
}
