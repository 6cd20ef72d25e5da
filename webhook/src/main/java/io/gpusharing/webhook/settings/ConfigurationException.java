package io.gpusharing.webhook.settings;

/** A setting that cannot be worked with; says what to set instead. */
public final class ConfigurationException extends RuntimeException {

    private static final long serialVersionUID = 1;

    private final String advice;

    /**
     * @param problem which setting is what, and why that cannot be worked with
     * @param advice what to set instead
     */
    public ConfigurationException(String problem, String advice) {
        super(problem);
        this.advice = advice;
    }

    String advice() {
        return advice;
    }
}
