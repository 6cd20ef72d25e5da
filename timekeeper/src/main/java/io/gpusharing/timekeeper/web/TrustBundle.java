package io.gpusharing.timekeeper.web;

/** The CA that meters trust, and the next one in time. */
public interface TrustBundle {

    /** One PEM certificate or several; empty if there is nothing to say. */
    String pem();
}
