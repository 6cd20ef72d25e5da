package io.gpusharing.e2e.story;

import java.io.PrintStream;

/** Prints the story; with colours only where a person looks. */
final class Terminal implements Narrator {

    /** Set by make where its output is a terminal. */
    private static final boolean COLOURS = Boolean.getBoolean("colours");

    private final PrintStream out;
    private final long start = System.nanoTime();

    Terminal(PrintStream out) {
        this.out = out;
    }

    @Override
    public void step(String heading) {
        out.println();
        out.println(bold(heading) + dim("  [%d s]".formatted(seconds())));
    }

    @Override
    public void say(String sentence) {
        out.println(sentence);
    }

    @Override
    public void command(String command, String answer) {
        out.println(bold("$ " + command));
        answer.lines().forEach(line -> out.println("  " + line));
    }

    long seconds() {
        return (System.nanoTime() - start) / 1_000_000_000;
    }

    private static String bold(String text) {
        return COLOURS ? "\033[1m" + text + "\033[0m" : text;
    }

    private static String dim(String text) {
        return COLOURS ? "\033[2m" + text + "\033[0m" : text;
    }
}
