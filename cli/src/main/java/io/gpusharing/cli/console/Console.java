package io.gpusharing.cli.console;

import java.io.PrintWriter;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Where a command writes.
 *
 * @param out answers
 * @param err what the user should know besides
 * @param colours whether a person looks at the answers, and wants colours
 */
public record Console(PrintWriter out, PrintWriter err, boolean colours) {

    private static final Pattern CONTROL =
            Pattern.compile("[\\p{Cntrl}\\x80-\\x9F\\p{Cf}&&[^\\n]]");

    /** Says something that is the answer. */
    public void say(String text) {
        out.println(visible(text));
    }

    /** Says something that is no part of the answer. */
    public void note(String sentence) {
        // In the order in which they were said, where both are one terminal.
        out.flush();
        err.println(visible(sentence));
    }

    /**
     * Names of owners and some other texts are what a tenant wrote: a control character in them
     * could clear an administrator's terminal, or, as those that turn the direction of writing,
     * have it show what nobody has said.
     */
    static String visible(String text) {
        return CONTROL.matcher(text).replaceAll("\uFFFD");
    }

    /** The same of JSON, where a text may have each of them in another form. */
    static String escaped(String json) {
        return CONTROL.matcher(json)
                .replaceAll(it ->
                        it.group()
                                .chars()
                                .mapToObj("\\\\u%04x"::formatted)
                                .collect(Collectors.joining()));
    }
}
