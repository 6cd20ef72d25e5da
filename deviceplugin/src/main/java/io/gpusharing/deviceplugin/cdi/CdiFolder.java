package io.gpusharing.deviceplugin.cdi;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import io.gpusharing.deviceplugin.disk.AtomicFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Our CDI specifications, a file for each container that is about to start. It goes once the
 * container runs: a kubelet that restarts a container without asking us (it does so for a moment
 * after its own start) shall find nothing, and ask again.
 */
public final class CdiFolder {

    /** The first version of CDI that containerd 1.7 and CRI-O read. */
    private static final String VERSION = "0.5.0";

    /** The member of a share that says whose it is. */
    public static final String POD_UID = "podUid";

    private static final String SHARE = ".json";

    /** How the names of our files begin. */
    static final String PREFIX = "gpusharing-";

    private final Path folder;
    private final Path shares;

    /**
     * @param folder {@code /var/run/cdi}
     * @param shares where files lie that containers see as {@code /run/gpusharing/share.json}
     */
    public CdiFolder(Path folder, Path shares) throws IOException {
        this.folder = Files.createDirectories(folder);
        this.shares = Files.createDirectories(shares);
    }

    /**
     * Writes what a container gets.
     *
     * @param edits how it gets at its GPUs; the rest is added to them
     * @param environment variables besides
     * @param share what it may read about its share, as JSON; its {@link #POD_UID} says whose it is
     */
    public void write(
            CdiDevice device, JsonObject edits, Map<String, String> environment, JsonObject share)
            throws IOException {
        // Neither is needed after a reboot.
        Path shareFile = shares.resolve(device.name() + SHARE);
        AtomicFile.write(shareFile, share.toString(), "rw-r--r--");

        JsonArray variables = DriverEdits.list(edits, "env");
        new TreeMap<>(environment).forEach((name, value) -> variables.add(name + "=" + value));
        DriverEdits.mount(edits, shareFile, "/run/gpusharing/share.json");

        var named = new JsonObject();
        named.addProperty("name", device.name());
        named.add("containerEdits", edits);
        var devices = new JsonArray();
        devices.add(named);
        var specification = new JsonObject();
        specification.addProperty("cdiVersion", VERSION);
        specification.addProperty("kind", CdiDevice.KIND);
        specification.add("devices", devices);
        AtomicFile.write(file(device), specification.toString(), "rw-------");
    }

    /** Takes the specification away, so that no other container starts by it. */
    public void close(CdiDevice device) throws IOException {
        Files.deleteIfExists(file(device));
    }

    /**
     * Removes all that is left of pods.
     *
     * @param ended of which ones, by UID
     */
    public void removeIf(Predicate<String> ended) throws IOException {
        try (Stream<Path> files = Files.list(shares)) {
            for (Path file : files.filter(it -> it.toString().endsWith(SHARE)).toList()) {
                if (ended.test(podUid(file))) {
                    close(new CdiDevice(file.getFileName().toString().replace(SHARE, "")));
                    Files.deleteIfExists(file);
                }
            }
        }
    }

    /** Whose share it is; empty if it does not say, or somebody else has just removed it. */
    private static String podUid(Path share) throws IOException {
        try {
            return JsonParser.parseString(Files.readString(share)).getAsJsonObject().get(POD_UID)
                            instanceof JsonPrimitive uid
                    ? uid.getAsString()
                    : "";
        } catch (NoSuchFileException | JsonParseException | IllegalStateException e) {
            return "";
        }
    }

    /** Takes all specifications away: after a start of ours it is not known which are in use. */
    public void closeAll() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                if (file.getFileName().toString().startsWith(PREFIX)) {
                    Files.deleteIfExists(file);
                }
            }
        }
    }

    private Path file(CdiDevice device) {
        return folder.resolve(PREFIX + device.name() + ".json");
    }
}
