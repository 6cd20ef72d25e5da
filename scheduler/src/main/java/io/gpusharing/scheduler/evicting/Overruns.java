package io.gpusharing.scheduler.evicting;

import java.util.Optional;

/** Whether budgets still say what a plan of reclaim was made by. */
interface Overruns {

    /** Whether all budgets and grants have been listed; before that nothing follows from them. */
    boolean areKnown();

    /**
     * Why nobody may be evicted for a plan now; empty if the budgets of all its victims are used up
     * and its waiter's is not, as they are stored now, and that may be acted on.
     *
     * @throws io.fabric8.kubernetes.client.KubernetesClientException if the API server does not
     *     answer
     */
    Optional<String> whyNot(Plan plan);
}
