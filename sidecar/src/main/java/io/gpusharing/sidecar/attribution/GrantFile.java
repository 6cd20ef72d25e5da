package io.gpusharing.sidecar.attribution;

import io.gpusharing.sidecar.attribution.GrantedPod.Container;
import io.gpusharing.sidecar.attribution.GrantedPod.Hold;
import io.gpusharing.sidecar.attribution.GrantedPod.Kind;
import io.gpusharing.sidecar.attribution.NodeFiles.Grants;
import io.gpusharing.sidecar.json.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The grants of this node's device plugin, which replaces the file as a whole whenever one changes.
 * It is read again when it was replaced. Where it is not there no device plugin of ours is.
 */
final class GrantFile {

    private static final long VERSION = 1;

    private final Path path;
    private final GrantEvents events;
    private volatile List<GrantedPod> pods = List.of();
    private volatile Grants state = Grants.ABSENT;
    private @Nullable Stamp stamp;

    /** What differs between a file and the one that replaces it. */
    private record Stamp(@Nullable Object inode, FileTime changed, long size) {}

    GrantFile(Path path, GrantEvents events) {
        this.path = path;
        this.events = events;
    }

    /**
     * Reads the file if it was replaced. Never fails: grants that cannot be understood are none.
     *
     * @return whether the grants may be others now
     */
    boolean refresh() {
        try {
            var file = Files.readAttributes(path, BasicFileAttributes.class);
            var now = new Stamp(file.fileKey(), file.lastModifiedTime(), file.size());
            if (now.equals(stamp)) {
                return false;
            }
            // Taken before the text, so that what replaces the file meanwhile is read next time.
            stamp = now;
            pods = parse(Files.readString(path));
            if (state != Grants.READ) {
                state = Grants.READ;
                events.grantsRead();
            }
        } catch (NoSuchFileException e) {
            stamp = null;
            pods = List.of();
            if (state != Grants.ABSENT) {
                state = Grants.ABSENT;
                events.grantsGone();
            }
        } catch (IOException e) {
            // Rights may be changed without a trace in what is compared: it is tried again.
            stamp = null;
            unreadable(e.toString());
        } catch (IllegalArgumentException e) {
            unreadable(path + ": " + e.getMessage());
        }
        return true;
    }

    private void unreadable(String reason) {
        // Grants of an earlier file would name pods that are gone, and blame those that came.
        pods = List.of();
        if (state != Grants.UNREADABLE) {
            state = Grants.UNREADABLE;
            events.grantsUnreadable(reason);
        }
    }

    /** All pods with a grant; none where the file cannot be used. */
    List<GrantedPod> pods() {
        return pods;
    }

    /** What became of the file. */
    Grants state() {
        return state;
    }

    static List<GrantedPod> parse(String text) {
        Map<?, ?> file = Json.parseObject(text);
        long version = number(file, "version");
        if (version != VERSION) {
            throw new IllegalArgumentException(
                    "version %d is not known, only %d".formatted(version, VERSION));
        }
        List<GrantedPod> pods = new ArrayList<>();
        for (Map<?, ?> pod : objects(file, "pods")) {
            List<Container> containers = new ArrayList<>();
            for (Map<?, ?> container : objects(pod, "containers")) {
                List<Hold> holds = new ArrayList<>();
                for (Map<?, ?> gpu : objects(container, "gpus")) {
                    holds.add(
                            new Hold(
                                    text(gpu, "uuid"),
                                    number(gpu, "core"),
                                    number(gpu, "memoryMiB"),
                                    value(gpu, "whole", Boolean.class)));
                }
                containers.add(
                        new Container(Kind.valueOf(text(container, "kind")), List.copyOf(holds)));
            }
            pods.add(
                    new GrantedPod(
                            text(pod, "uid"),
                            text(pod, "namespace"),
                            text(pod, "name"),
                            List.copyOf(containers)));
        }
        return List.copyOf(pods);
    }

    private static List<Map<?, ?>> objects(Map<?, ?> object, String field) {
        List<Map<?, ?>> objects = new ArrayList<>();
        for (Object each : value(object, field, List.class)) {
            if (!(each instanceof Map<?, ?> map)) {
                throw new IllegalArgumentException(field + " holds something else than objects");
            }
            objects.add(map);
        }
        return objects;
    }

    private static String text(Map<?, ?> object, String field) {
        return value(object, field, String.class);
    }

    private static long number(Map<?, ?> object, String field) {
        return value(object, field, Long.class);
    }

    private static <T> T value(Map<?, ?> object, String field, Class<T> type) {
        Object value = object.get(field);
        if (value == null || !type.isInstance(value)) {
            throw new IllegalArgumentException(
                    "%s is %s instead of a %s".formatted(field, value, type.getSimpleName()));
        }
        return type.cast(value);
    }
}
