package io.gpusharing;

import java.util.SortedSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Names in one text, joined by commas. People write them, too: spaces and empty names are none. */
public final class NameList {

    private NameList() {}

    /**
     * Reads it.
     *
     * @param text null where there is none
     */
    public static SortedSet<String> read(@Nullable String text) {
        var names = new TreeSet<String>();
        if (text != null) {
            for (String name : text.split(",", -1)) {
                if (!name.isBlank()) {
                    names.add(name.strip());
                }
            }
        }
        return names;
    }
}
