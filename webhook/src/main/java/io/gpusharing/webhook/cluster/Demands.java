package io.gpusharing.webhook.cluster;

import java.util.List;

/**
 * What a namespace demands of pods besides what we do.
 *
 * @param limits of its LimitRanges
 * @param quotas its ResourceQuotas
 */
public record Demands(ContainerLimits limits, List<Quota> quotas) {

    /** Nothing. */
    public static final Demands NONE = new Demands(ContainerLimits.NONE, List.of());
}
