package io.gpusharing.deviceplugin.cdi;

import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonPrimitive;
import io.gpusharing.deviceplugin.disk.FileVersion;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import org.yaml.snakeyaml.error.YAMLException;

/**
 * Where NVIDIA's CDI specification lies, if the node has one. It is read anew when one of the
 * folders' files has changed, for drivers are updated. Safe for any thread.
 */
public final class DriverFolders {

    /** Of what kind NVIDIA's specification is. */
    private static final String KIND = "nvidia.com/gpu";

    private static final Pattern SPECIFICATION = Pattern.compile(".+\\.(json|yaml|yml)");

    private final List<Path> folders;
    private Map<Path, Optional<FileVersion>> versions = Map.of();
    private @Nullable DriverEdits last;

    /**
     * @param folders such as {@code /etc/cdi} and {@code /var/run/cdi}; what is found later wins
     */
    public DriverFolders(List<Path> folders) {
        this.folders = List.copyOf(folders);
    }

    /**
     * How containers get at GPUs now.
     *
     * @throws IOException if NVIDIA's specification is not found, and a file is there that cannot
     *     be read
     */
    public synchronized DriverEdits edits() throws IOException {
        Map<Path, Optional<FileVersion>> now = specifications();
        DriverEdits known = last;
        if (known == null || !now.equals(versions)) {
            known = read(now);
        }
        return known;
    }

    /** Other vendors' files may be as they like. */
    private DriverEdits read(Map<Path, Optional<FileVersion>> files) throws IOException {
        DriverEdits found = new DriverEdits.LegacyRuntime();
        IOException unreadable = null;
        for (Path file : files.keySet()) {
            try {
                JsonObject content = read(file);
                if (content != null && isNvidias(content)) {
                    found = new DriverEdits.Specification(file, content);
                }
            } catch (NoSuchFileException e) {
                // Somebody's container has started meanwhile.
            } catch (IOException e) {
                unreadable = e;
            }
        }
        if (found instanceof DriverEdits.LegacyRuntime && unreadable != null) {
            throw unreadable;
        }
        // What could not be read now may be read the next time.
        last = unreadable == null ? found : null;
        versions = files;
        return found;
    }

    /** All but ours, in the order in which they are to be read. */
    private Map<Path, Optional<FileVersion>> specifications() throws IOException {
        var versions = new LinkedHashMap<Path, Optional<FileVersion>>();
        for (Path folder : folders) {
            if (Files.isDirectory(folder)) {
                try (Stream<Path> files = Files.list(folder)) {
                    files.filter(DriverFolders::isSpecification)
                            .sorted()
                            .forEach(file -> versions.put(file, FileVersion.of(file)));
                }
            }
        }
        return versions;
    }

    private static boolean isSpecification(Path file) {
        String name = file.getFileName().toString();
        return SPECIFICATION.matcher(name).matches() && !name.startsWith(CdiFolder.PREFIX);
    }

    private static boolean isNvidias(JsonObject content) {
        return content.get("kind") instanceof JsonPrimitive kind
                && kind.getAsString().equals(KIND)
                && content.get("devices") instanceof JsonArray;
    }

    private static @Nullable JsonObject read(Path file) throws IOException {
        try {
            // Every JSON text is YAML.
            Object content =
                    new Yaml(new SafeConstructor(new LoaderOptions())).load(Files.readString(file));
            return new Gson().toJsonTree(content) instanceof JsonObject object ? object : null;
        } catch (YAMLException | JsonParseException e) {
            throw new IOException("%s is no CDI specification: %s".formatted(file, e.getMessage()));
        }
    }
}
