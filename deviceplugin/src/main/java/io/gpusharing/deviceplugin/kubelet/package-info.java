/**
 * The kubelet: {@link Registration} serves resources to it, {@link Checkpoint} and {@link
 * PodResources} say which container it gave which units.
 */
@NullMarked
package io.gpusharing.deviceplugin.kubelet;

import org.jspecify.annotations.NullMarked;
