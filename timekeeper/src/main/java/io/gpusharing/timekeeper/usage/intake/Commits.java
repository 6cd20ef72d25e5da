package io.gpusharing.timekeeper.usage.intake;

/** Makes reports durable. */
interface Commits {

    /** Returns when the report is durable, or will not be. */
    Outcome submit(Delivery delivery);
}
