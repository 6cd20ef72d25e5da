/**
 * The cluster as this node's plugin sees it, by the API server: {@link PodWatch} follows the pods
 * of the node, {@link GpuNodePublisher}, {@link NodeLabels} and {@link PodEvents} tell others what
 * the plugin does. All of it over {@code java.net.http}, with lists read as streams: a client
 * library would take more memory than the rest of the program.
 */
@NullMarked
package io.gpusharing.deviceplugin.cluster;

import org.jspecify.annotations.NullMarked;
