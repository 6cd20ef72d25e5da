package io.gpusharing.timekeeper.ledger;

/** The rows are not what memory holds: somebody else posts, or a commit's answer was lost. */
class OutOfStepException extends RuntimeException {

    OutOfStepException(int rows) {
        super(rows + " stays are not as they were read; reading them again");
    }
}
