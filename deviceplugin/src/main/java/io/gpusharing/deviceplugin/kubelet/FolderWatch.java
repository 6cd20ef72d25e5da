package io.gpusharing.deviceplugin.kubelet;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.ClosedWatchServiceException;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;

/** Tells when files of a folder come or go, by a thread of its own until it is closed. */
final class FolderWatch implements AutoCloseable {

    private final WatchService files;
    private final Runnable changed;

    FolderWatch(Path folder, Runnable changed) throws IOException {
        this.files = folder.getFileSystem().newWatchService();
        this.changed = changed;
        folder.register(
                files, StandardWatchEventKinds.ENTRY_CREATE, StandardWatchEventKinds.ENTRY_DELETE);
        Thread.ofVirtual().name("folder-watch").start(this::follow);
    }

    private void follow() {
        try {
            while (true) {
                WatchKey key = files.take();
                key.pollEvents();
                key.reset();
                changed.run();
            }
        } catch (ClosedWatchServiceException | InterruptedException e) {
            // This program ends.
            return;
        }
    }

    @Override
    public void close() {
        try {
            files.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
