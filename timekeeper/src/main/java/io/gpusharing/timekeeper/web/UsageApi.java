package io.gpusharing.timekeeper.web;

/**
 * Addresses of the ledger as an API of the cluster. What the other address says is said there by
 * the same code.
 */
public final class UsageApi {

    /** All that the API server passes on about it begins so. */
    public static final String PATH = "/apis/usage.gpusharing.io/v1alpha1";

    /** A budget, of which there is more to ask behind another slash. */
    public static final String BUDGET = PATH + "/budgetusages/{budget}";

    private UsageApi() {}
}
