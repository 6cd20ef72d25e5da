package io.gpusharing.scheduler.cluster;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * By which Lease one of several kube-schedulers leads.
 *
 * @param namespace of the Lease
 * @param name of the Lease; empty: there is one kube-scheduler alone, and nothing is looked at
 * @param host the host name of the kube-scheduler beside us, with which it begins its identity; in
 *     a pod that pod's name
 */
@ConfigurationProperties("gpusharing.scheduler.lease")
record LeaseProperties(
        @DefaultValue("gpusharing-system") String namespace,
        @DefaultValue("") String name,
        @DefaultValue("") String host) {}
