package io.gpusharing.webhook.http;

import io.gpusharing.webhook.admission.WebhookType;

/**
 * What is made of a review while it is decided, at most: all that is allocated for the worst of
 * what an API server may send, of which less lives at any moment.
 */
final class ReviewMemory {

    /** The many small volumes of a pod take most; its containers are limited in number. */
    private static final int POD_WEIGHT = 25;

    /** What a tree of a workload's JSON takes, at the worst of what is real. */
    private static final int TREE_WEIGHT = 20;

    /** As many containers as a pod may have, each with what it asks for. */
    private static final int CONTAINERS = 2 * 1024 * 1024;

    /** Containers without a field. */
    private static final int CONTAINERS_WEIGHT = 180;

    private ReviewMemory() {}

    /** Bytes for a review of a length, beside its own. */
    static long of(WebhookType type, int length) {
        return switch (type) {
            case Mutate ->
                    (long) length * POD_WEIGHT
                            + Math.min(CONTAINERS, (long) length * CONTAINERS_WEIGHT);
            case Validate -> (long) length * TREE_WEIGHT;
        };
    }
}
