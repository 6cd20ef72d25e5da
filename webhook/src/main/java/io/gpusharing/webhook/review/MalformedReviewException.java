package io.gpusharing.webhook.review;

/** What was posted is no AdmissionReview that we can answer; the message says why, in one line. */
public final class MalformedReviewException extends RuntimeException {

    private static final long serialVersionUID = 1;

    /** Says why, in one line. */
    public MalformedReviewException(String message) {
        // No stack trace: it says nothing about a document, and anybody can post one.
        super(message, null, false, false);
    }
}
