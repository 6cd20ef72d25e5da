package io.gpusharing.deviceplugin.cdi;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import com.google.gson.JsonObject;
import io.gpusharing.deviceplugin.disk.AtomicFile;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;

/**
 * The script {@code mgctl}, which lists the processes that have a container's GPU open, in the
 * table of the program that metagpu's own plugin copies into containers.
 *
 * @param script where it lies on the node
 */
public record Mgctl(Path script) {

    /** Where metagpu has its program. */
    private static final String PLACE = "/usr/bin/mgctl";

    /**
     * One whose file is written.
     *
     * @param folder of the node, from which programs may be run: many a node forbids that for all
     *     of {@code /run}
     */
    public static Mgctl of(Path folder) throws IOException {
        Path script = folder.resolve("mgctl");
        try (InputStream text = requireNonNull(Mgctl.class.getResourceAsStream("mgctl"))) {
            AtomicFile.write(script, new String(text.readAllBytes(), UTF_8), "rwxr-xr-x");
        }
        return new Mgctl(script);
    }

    /** Adds it to what a container gets. */
    public void addTo(JsonObject edits) {
        DriverEdits.mount(edits, script, PLACE);
    }
}
