package io.gpusharing.timekeeper.cluster;

import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * How pods are found that ask for GPUs and do not carry our label, because they are older than we
 * are or were created while the webhook did not answer.
 *
 * @param every how often all pods of the cluster are listed; zero for never
 */
@ConfigurationProperties("gpusharing.sweep")
record SweepProperties(@DefaultValue("15m") Duration every) {}
