package io.gpusharing.deviceplugin.runtime;

import io.gpusharing.deviceplugin.disk.FileVersion;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.PatternSyntaxException;

/**
 * Files of the node, named as they are there. Remembers which ones were asked for, so that it
 * notices a change without reading them again.
 */
final class NodeFiles {

    private final Path mounted;
    private final Map<Path, Optional<FileVersion>> seen = new HashMap<>();

    /**
     * @param mounted below which folders of the node are mounted, each at its own path
     */
    NodeFiles(Path mounted) {
        this.mounted = mounted;
    }

    /** The content of a file; the message of the exception names it as it is on the node. */
    String read(Path file) throws IOException {
        note(file);
        try {
            return Files.readString(here(file));
        } catch (NoSuchFileException e) {
            throw new IOException(file + " is not there, or not mounted into this pod", e);
        } catch (IOException e) {
            throw new IOException("%s cannot be read: %s".formatted(file, e.getMessage()), e);
        }
    }

    boolean isFolder(Path folder) {
        note(folder);
        return Files.isDirectory(here(folder));
    }

    /** The files of a folder that match, in the order of their names. */
    List<Path> matching(Path folder, String glob) throws IOException {
        note(folder);
        var found = new ArrayList<Path>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(here(folder), glob)) {
            files.forEach(file -> found.add(folder.resolve(file.getFileName())));
        } catch (IOException | DirectoryIteratorException | PatternSyntaxException e) {
            throw new IOException(
                    "%s/%s cannot be read: %s".formatted(folder, glob, e.getMessage()), e);
        }
        Collections.sort(found);
        return found;
    }

    /** Whether something that was asked for is different by now; and forgets what that was. */
    boolean changed() {
        boolean changed =
                seen.isEmpty()
                        || seen.entrySet().stream()
                                .anyMatch(each ->
                                        !FileVersion.of(here(each.getKey()))
                                                .equals(each.getValue()));
        if (changed) {
            seen.clear();
        }
        return changed;
    }

    private void note(Path file) {
        seen.put(file, FileVersion.of(here(file)));
    }

    private Path here(Path file) {
        return mounted.resolve(Path.of("/").relativize(file));
    }
}
