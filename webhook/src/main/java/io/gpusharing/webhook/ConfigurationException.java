package io.gpusharing.webhook;

/** A setting that cannot be worked with; says what to set instead. */
final class ConfigurationException extends RuntimeException {

    private static final long serialVersionUID = 1;

    private final String advice;

    ConfigurationException(String problem, String advice) {
        super(problem);
        this.advice = advice;
    }

    String advice() {
        return advice;
    }
}
