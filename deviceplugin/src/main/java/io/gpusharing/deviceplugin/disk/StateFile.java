package io.gpusharing.deviceplugin.disk;

import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.util.Optional;

/**
 * What this program remembers on disk, as JSON with a version.
 *
 * @param path the file
 * @param version of its content
 */
public record StateFile(Path path, int version) {

    /** Makes something of the file's content; by what it throws, the content is not ours. */
    @FunctionalInterface
    public interface Reader<T> {
        T read(JsonObject content);
    }

    /**
     * Reads it; nothing if there is no file.
     *
     * @throws IOException if there is one that cannot be understood
     */
    public <T> Optional<T> read(Reader<T> reader) throws IOException {
        try {
            JsonObject content = JsonParser.parseString(Files.readString(path)).getAsJsonObject();
            int found = content.get("version").getAsInt();
            if (found != version) {
                throw new IOException(
                        "%s has version %d; this program reads %d".formatted(path, found, version));
            }
            return Optional.of(reader.read(content));
        } catch (NoSuchFileException e) {
            return Optional.empty();
        } catch (JsonParseException
                | IllegalStateException
                | IllegalArgumentException
                | UnsupportedOperationException
                | DateTimeException
                | NullPointerException e) {
            throw new IOException(
                    "%s is not what this program wrote (%s)".formatted(path, e.getMessage()), e);
        }
    }

    /**
     * Replaces it durably.
     *
     * @param content without the version
     * @param permissions as {@code ls} writes them
     */
    public void write(JsonObject content, String permissions) throws IOException {
        var file = new JsonObject();
        file.addProperty("version", version);
        content.asMap().forEach(file::add);
        AtomicFile.writeDurably(path, file.toString(), permissions);
    }
}
