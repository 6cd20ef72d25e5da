package io.gpusharing.timekeeper.leader;

import io.gpusharing.kubernetes.Rounds;

/** A part of the timekeeper that does its work in rounds. */
public interface Part {

    /** How they go. */
    Rounds rounds();
}
