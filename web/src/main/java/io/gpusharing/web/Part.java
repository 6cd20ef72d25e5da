package io.gpusharing.web;

import io.gpusharing.kubernetes.Rounds;

/** A part of a service that does its work in rounds. */
public interface Part {

    /** How they go. */
    Rounds rounds();
}
