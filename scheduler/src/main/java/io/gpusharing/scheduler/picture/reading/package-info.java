/**
 * Reads the picture: {@link io.gpusharing.scheduler.picture.reading.KnownCluster} has each object
 * that a watch shows read once, and {@link
 * io.gpusharing.scheduler.picture.reading.ClusterSnapshotReader} makes a snapshot of what it keeps.
 */
@NullMarked
package io.gpusharing.scheduler.picture.reading;

import org.jspecify.annotations.NullMarked;
