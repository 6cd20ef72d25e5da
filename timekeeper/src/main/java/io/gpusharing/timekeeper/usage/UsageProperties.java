package io.gpusharing.timekeeper.usage;

import jakarta.validation.constraints.Positive;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;
import org.springframework.validation.annotation.Validated;

/**
 * How usage reports are taken.
 *
 * @param maxReportSize larger bodies are answered 413, and those of which more would be made than
 *     the heap has for reports; a node agent's report of 100 pods on 8 GPUs takes about 300 KB
 * @param maxSidecarReportSize the same for sidecars, which tenants can imitate; a report of 16 GPUs
 *     takes about 5 KB
 * @param maxReading how long a report may take to come before it is answered 408
 * @param maxRuns how many runs of a pod's sidecar are taken within an hour; more are answered 429
 * @param maxBatch most counters that are written in one transaction
 * @param maxWaiting most reports that wait for their transaction; more are answered 503
 * @param patience how long a report waits for its transaction before it is answered 503
 * @param retryAfter what a 503 advises
 * @param tolerance how far a meter's clock and roundings may be off before its amounts are called
 *     impossible
 * @param agentFresh how long after a node agent's last report it still counts as covering a pod
 * @param remember how long a report that comes again is recognised; its counters are kept
 */
@Validated
@ConfigurationProperties("gpusharing.usage")
public record UsageProperties(
        @DefaultValue("1MB") DataSize maxReportSize,
        @DefaultValue("64KB") DataSize maxSidecarReportSize,
        @DefaultValue("10s") Duration maxReading,
        @Positive @DefaultValue("12") int maxRuns,
        @Positive @DefaultValue("5000") int maxBatch,
        @Positive @DefaultValue("10000") int maxWaiting,
        @DefaultValue("5s") Duration patience,
        @DefaultValue("5s") Duration retryAfter,
        @DefaultValue("10s") Duration tolerance,
        @DefaultValue("1m") Duration agentFresh,
        @DefaultValue("1h") Duration remember) {}
