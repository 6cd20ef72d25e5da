package io.gpusharing.cli.console;

import java.util.Objects;

/** Why a command cannot answer: one sentence for the user, and what to do. */
public class Failure extends RuntimeException {

    private static final long serialVersionUID = 1;

    public Failure(String message) {
        super(message, null, false, false);
    }

    @Override
    public String getMessage() {
        return Objects.requireNonNull(super.getMessage());
    }
}
