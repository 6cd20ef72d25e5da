package io.gpusharing.cli.cluster;

import io.gpusharing.cli.console.Failure;

/** The API server does not know the kind that was asked for. */
public final class NotInstalled extends Failure {

    private static final long serialVersionUID = 1;

    NotInstalled(String message) {
        super(message);
    }
}
