package io.gpusharing.deviceplugin.cluster;

import org.jspecify.annotations.Nullable;

/**
 * One line of a watch of pods.
 *
 * @param type {@code ADDED}, {@code MODIFIED}, {@code DELETED}, {@code BOOKMARK} or {@code ERROR}
 * @param resourceVersion what a watch goes on from after this line
 * @param pod absent in a bookmark and an error
 * @param code an error's HTTP status, else 0
 * @param message an error's
 */
record WatchEvent(
        String type, String resourceVersion, @Nullable NodePod pod, int code, String message) {}
