package io.gpusharing.webhook.decision;

/** What the site wants to happen. */
public enum Reaction {
    /** The pod is refused. */
    Refuse,
    /** The pod passes, its creator is warned. */
    Warn,
    /** The pod passes. */
    Allow
}
