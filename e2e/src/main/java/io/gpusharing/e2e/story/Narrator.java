package io.gpusharing.e2e.story;

/** Prints the story while it happens. */
public interface Narrator {

    /** A new step begins. */
    void step(String heading);

    /** A sentence about what is seen. */
    void say(String sentence);

    /** A command as a person would type it, and what it really answered. */
    void command(String command, String answer);

    /** For tests: they check, nobody listens. */
    static Narrator silent() {
        return new Narrator() {
            @Override
            public void step(String heading) {}

            @Override
            public void say(String sentence) {}

            @Override
            public void command(String command, String answer) {}
        };
    }
}
