package io.gpusharing.webhook.cluster;

import java.util.List;

/** The ResourceQuotas of each namespace. */
@FunctionalInterface
public interface Quotas {

    /** There are none. */
    Quotas NONE = namespace -> List.of();

    /** The quotas of a namespace. */
    List<Quota> in(String namespace);
}
