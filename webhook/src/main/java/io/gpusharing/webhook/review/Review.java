package io.gpusharing.webhook.review;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the API server asks.
 *
 * @param uid names this one call; the answer repeats it
 * @param group API group of the object, empty for the core group
 * @param kind kind of the object as the configuration has registered it
 * @param subresource empty for the object itself
 * @param operation CREATE, UPDATE, DELETE or CONNECT
 * @param namespace empty for cluster-scoped objects
 * @param name empty while it is to be generated
 * @param dryRun whether nothing may remain of this request
 * @param userName who asks
 * @param userGroups groups of who asks
 * @param object the object as it will be
 * @param oldObject the object as it was; empty on CREATE
 * @param pod what we read of the object; null if it is no pod
 */
public record Review(
        String uid,
        String group,
        String kind,
        String subresource,
        String operation,
        String namespace,
        String name,
        boolean dryRun,
        String userName,
        List<String> userGroups,
        Slice object,
        Slice oldObject,
        @Nullable PodView pod) {

    /** Whether it is GPU time that namespaces may use. */
    public boolean isBudget() {
        return isOurs("GpuBudget");
    }

    /** Whether it is GPU time on top of a budget. */
    public boolean isGrant() {
        return isOurs("GpuGrant");
    }

    /** Whether it says what a pod should have been charged. */
    public boolean isCorrection() {
        return isOurs("GpuCorrection");
    }

    private boolean isOurs(String ours) {
        return group.equals("gpusharing.io") && kind.equals(ours) && subresource.isEmpty();
    }

    /** Whether it is a pod itself, not one of its subresources. */
    public boolean isPod() {
        return group.isEmpty() && kind.equals("Pod") && subresource.isEmpty();
    }
}
