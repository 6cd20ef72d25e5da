package io.gpusharing.scheduler.evicting;

import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.NotNull;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.validation.annotation.Validated;

/**
 * How pods are evicted, and by which replica.
 *
 * @param namespace of the Lease by which replicas agree on the one that evicts; whoever places pods
 *     is another matter
 * @param lease name of that Lease
 * @param identity what this replica is called in it: the pod's name, so that a container which is
 *     restarted finds its own lease and goes on at once
 * @param maxGrace no pod is given longer than this to end
 * @param startDeadline how long a bound pod that the device plugin refuses may wait for its start
 *     before it is evicted; one that can never start is evicted at once
 */
@Validated
@ConfigurationProperties("gpusharing.evicting")
record EvictingProperties(
        @NotBlank @DefaultValue("gpusharing-system") String namespace,
        @NotBlank @DefaultValue("gpusharing-evicting") String lease,
        @NotBlank @DefaultValue("scheduler") String identity,
        @NotNull @DefaultValue("5m") Duration maxGrace,
        @NotNull @DefaultValue("2m") Duration startDeadline) {}
