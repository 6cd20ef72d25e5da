package io.gpusharing.cli.cluster;

import io.gpusharing.cli.console.Failure;

/** The timekeeper is away, and the API server says so. */
public final class NotAnswered extends Failure {

    private static final long serialVersionUID = 1;

    NotAnswered(String message) {
        super(message);
    }
}
