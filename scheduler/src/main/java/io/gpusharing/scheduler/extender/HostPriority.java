package io.gpusharing.scheduler.extender;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * How good a node is for a pod.
 *
 * @param score 0 to 10; kube-scheduler adds ten times that, times the extender's weight, to its own
 */
record HostPriority(@JsonProperty("Host") String host, @JsonProperty("Score") long score) {

    private static final int MOST = 10;

    HostPriority(String host, boolean best) {
        this(host, best ? MOST : 0);
    }
}
