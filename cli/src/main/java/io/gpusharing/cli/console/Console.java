package io.gpusharing.cli.console;

import java.io.PrintWriter;

/**
 * Where a command writes.
 *
 * @param out answers
 * @param err what the user should know besides
 * @param colours whether a person looks at the answers, and wants colours
 */
public record Console(PrintWriter out, PrintWriter err, boolean colours) {

    /** Says something that is no part of the answer. */
    public void note(String sentence) {
        // In the order in which they were said, where both are one terminal.
        out.flush();
        err.println(sentence);
    }
}
