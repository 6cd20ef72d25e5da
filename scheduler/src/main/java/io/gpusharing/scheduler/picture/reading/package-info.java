/**
 * Reads the picture: {@link io.gpusharing.scheduler.picture.reading.ClusterSnapshotReader} lists
 * what is needed and has the other readers here make values of it.
 */
@NullMarked
package io.gpusharing.scheduler.picture.reading;

import org.jspecify.annotations.NullMarked;
