package io.gpusharing.cli.cluster;

import io.gpusharing.cli.console.Failure;

/** The user has no right to what was asked. */
public final class NotAllowed extends Failure {

    private static final long serialVersionUID = 1;

    NotAllowed(String message) {
        super(message);
    }
}
