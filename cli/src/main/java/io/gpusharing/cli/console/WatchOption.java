package io.gpusharing.cli.console;

import java.time.Duration;
import picocli.CommandLine.Option;

/** The option of a command that people like to keep before their eyes. */
public final class WatchOption {

    private static final Duration EVERY = Duration.ofSeconds(5);
    private static final String FROM_THE_TOP = "\033[H\033[2J";

    @Option(
            names = {"-w", "--watch"},
            description = "Again every five seconds, until it is stopped.")
    private boolean watch;

    /**
     * Shows an answer once, or again and again. Of several, one that fails is a note: the next may
     * not.
     *
     * @param answer shows it
     * @throws Failure if the first fails
     */
    public void show(Console console, OutputOptions output, Pause pause, Runnable answer) {
        if (watch && !output.format().isForPeople()) {
            throw new Failure("--watch is for people: use it with -o table or -o wide");
        }
        if (watch && console.colours()) {
            console.out().print(FROM_THE_TOP);
        }
        answer.run();
        // It flushes, and says whether anybody still reads.
        while (watch && !console.out().checkError() && pause.isOver(EVERY)) {
            // Where there are no colours somebody may keep them all.
            console.out().print(console.colours() ? FROM_THE_TOP : System.lineSeparator());
            try {
                answer.run();
            } catch (Failure e) {
                console.note("error: " + e.getMessage());
            }
        }
    }
}
