package io.gpusharing.webhook.admission;

import java.util.Locale;

/** What the API server asks us, by path. */
enum Question {
    /** Judge and complete a new pod, or name the author of a new grant. */
    Mutate,
    /** Judge the template of a workload. */
    Validate;

    /** Path of the question, for instance {@code /mutate}. */
    String path() {
        return "/" + name().toLowerCase(Locale.ROOT);
    }
}
