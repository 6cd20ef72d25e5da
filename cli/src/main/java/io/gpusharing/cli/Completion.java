package io.gpusharing.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import picocli.AutoComplete;
import picocli.CommandLine.Model.CommandSpec;

/**
 * What may stand in place of the last word of a command line, in the form in which kubectl asks the
 * program {@code kubectl_complete-gpusharing} for it: one candidate a line, then {@code :4}, which
 * says that file names are none.
 */
final class Completion {

    private static final String NO_FILES = ":4";

    private Completion() {}

    static List<String> of(CommandSpec spec, String... words) {
        String typed = words.length == 0 ? "" : words[words.length - 1];
        var rests = new ArrayList<CharSequence>();
        AutoComplete.complete(spec, words, words.length - 1, typed.length(), 0, rests);
        // Options are many; they are offered to who has begun one.
        return Stream.concat(
                        rests.stream()
                                .map(rest -> typed + rest)
                                .filter(it -> it.startsWith("-") == typed.startsWith("-"))
                                .sorted(),
                        Stream.of(NO_FILES))
                .toList();
    }
}
