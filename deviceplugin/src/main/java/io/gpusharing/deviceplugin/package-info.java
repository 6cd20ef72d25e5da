/**
 * Hands out fractions of a node's GPUs: {@link io.gpusharing.deviceplugin.DevicePlugin} puts
 * together {@code kubelet} (its protocol), {@code cluster} (the API server), {@code gpu} (what
 * there is and is healthy), {@code dialect} (by which resources people ask), {@code grant} (who
 * holds what), {@code start} (what happens before a container starts), {@code cdi} (what it finds
 * then) and {@code runtime} (what it could reach besides).
 */
@NullMarked
package io.gpusharing.deviceplugin;

import org.jspecify.annotations.NullMarked;
