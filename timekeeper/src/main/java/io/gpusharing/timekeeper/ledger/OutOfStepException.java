package io.gpusharing.timekeeper.ledger;

/** The rows differ from memory: another replica has posted, or the answer to a commit was lost. */
public class OutOfStepException extends RuntimeException {

    public OutOfStepException(int rows) {
        super(rows + " allocations are not as they were read; reading them again");
    }
}
