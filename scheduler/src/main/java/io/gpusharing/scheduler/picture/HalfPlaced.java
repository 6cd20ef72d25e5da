package io.gpusharing.scheduler.picture;

import io.gpusharing.scheduler.picture.ClusterSnapshot.Waiter;

/**
 * A gang of which a part runs, is charged and may be of no use, since the rest finds no room.
 *
 * @param gang names it
 * @param placed how many of its pods hold GPUs
 * @param waiting how many find no place
 * @param longest the one of these that has waited for longest
 */
public record HalfPlaced(String gang, int placed, int waiting, Waiter longest) {}
