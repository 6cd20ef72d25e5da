package io.gpusharing.timekeeper.usage;

/** Makes reports durable. */
interface Commits {

    /** Returns when the report is durable, or will not be. */
    Outcome submit(Delivery delivery);
}
