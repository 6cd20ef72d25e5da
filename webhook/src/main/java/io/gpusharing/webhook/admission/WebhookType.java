package io.gpusharing.webhook.admission;

import java.util.Locale;

/** Which of our webhooks the API server calls, by path. */
public enum WebhookType {
    /** Judge and complete a new pod, judge a budget, or name the author of a new grant. */
    Mutate,
    /** Judge the template of a workload. */
    Validate;

    /** Where the API server posts to, for instance {@code /mutate}. */
    public String path() {
        return "/" + name().toLowerCase(Locale.ROOT);
    }
}
