package io.gpusharing.deviceplugin.runtime;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.tomlj.TomlArray;
import org.tomlj.TomlParseResult;
import org.tomlj.TomlTable;

/** A TOML document. What has another type than is asked for is not there. */
final class Toml {

    private final TomlTable content;

    private Toml(TomlTable content) {
        this.content = content;
    }

    /**
     * Reads a file of the node.
     *
     * @throws IOException if it cannot be read, or is no TOML; the message names it
     */
    static Toml read(NodeFiles files, Path file) throws IOException {
        TomlParseResult content = org.tomlj.Toml.parse(files.read(file));
        if (content.hasErrors()) {
            throw new IOException(
                    "%s is no TOML: %s".formatted(file, content.errors().getFirst().toString()));
        }
        return new Toml(content);
    }

    Optional<String> text(List<String> path) {
        return value(path, String.class);
    }

    Optional<Boolean> flag(List<String> path) {
        return value(path, Boolean.class);
    }

    /** The texts of an array. */
    List<String> texts(List<String> path) {
        return value(path, TomlArray.class).stream()
                .flatMap(array -> array.toList().stream())
                .filter(String.class::isInstance)
                .map(String.class::cast)
                .toList();
    }

    /** What a table has members for. */
    Set<String> members(List<String> path) {
        return value(path, TomlTable.class).map(TomlTable::keySet).orElse(Set.of());
    }

    private <T> Optional<T> value(List<String> path, Class<T> type) {
        Object found = content.get(path);
        return type.isInstance(found) ? Optional.of(type.cast(found)) : Optional.empty();
    }
}
