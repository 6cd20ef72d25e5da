package io.gpusharing.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.yaml.snakeyaml.Yaml;

/**
 * A pod in the shape that popular software gives it. The decision alone and the whole on a real API
 * server are held to the same ones.
 *
 * @param origin what makes such pods, for instance {@code argo-workflows}
 * @param manifest as that software sends it
 */
public record WildPod(String origin, Map<String, Object> manifest) {

    /** Every shape, in the order of their origins. */
    public static List<WildPod> all() {
        try (Stream<Path> files = Files.list(Fixture.folder("/wild"))) {
            return files.sorted().map(WildPod::read).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static WildPod read(Path file) {
        try (var reader = Files.newBufferedReader(file)) {
            return new WildPod(
                    file.getFileName().toString().replace(".yaml", ""), new Yaml().load(reader));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public String toString() {
        return origin;
    }
}
