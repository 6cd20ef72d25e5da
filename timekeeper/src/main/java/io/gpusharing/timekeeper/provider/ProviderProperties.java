package io.gpusharing.timekeeper.provider;

import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.validation.annotation.Validated;

/**
 * What is expected of device plugins of ours.
 *
 * @param startDeadline how long a bound pod that the device plugin refuses may wait for its start
 *     before it is evicted; one that can never start is evicted at once
 */
@Validated
@ConfigurationProperties("gpusharing.provider")
record ProviderProperties(@DefaultValue("2m") Duration startDeadline) {}
