package io.gpusharing.timekeeper.leader;

import jakarta.validation.constraints.NotBlank;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.validation.annotation.Validated;

/**
 * How replicas agree on the one that leads.
 *
 * @param identity what this replica is called in the lease: the pod's name, so that a container
 *     which is restarted finds its own lease and goes on at once
 * @param lease name of the lease in our own namespace
 * @param leaseDuration how long the others wait for a leader whose lease does not change; whole
 *     seconds
 * @param renewDeadline how long a leader leads that cannot renew the lease; shorter, so that it has
 *     stopped before another one begins
 * @param retry how often the lease is renewed, and read by the others
 */
@Validated
@ConfigurationProperties("gpusharing.leadership")
record LeadershipProperties(
        @NotBlank @DefaultValue("timekeeper") String identity,
        @NotBlank @DefaultValue("gpusharing-timekeeper") String lease,
        @DefaultValue("15s") Duration leaseDuration,
        @DefaultValue("10s") Duration renewDeadline,
        @DefaultValue("1s") Duration retry) {

    LeadershipProperties {
        if (renewDeadline.compareTo(leaseDuration) >= 0) {
            throw new IllegalArgumentException(
                    "gpusharing.leadership.renew-deadline is %s; it has to be shorter than lease-duration, %s"
                            .formatted(renewDeadline, leaseDuration));
        }
    }
}
