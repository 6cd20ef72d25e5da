package io.gpusharing.webhook.cluster;

import java.util.List;

/**
 * What a namespace demands of pods besides what we do.
 *
 * @param limits of its LimitRanges
 * @param quotas its ResourceQuotas
 * @param unread those of both that cannot be read: what they demand is not known
 */
public record Demands(ContainerLimits limits, List<Quota> quotas, List<String> unread) {

    /** Nothing. */
    public static final Demands NONE = new Demands(ContainerLimits.NONE, List.of(), List.of());
}
