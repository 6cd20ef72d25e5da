package io.gpusharing.timekeeper.ledger;

import java.time.Duration;
import java.time.Period;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * How the ledger is kept.
 *
 * @param hourCloses how long after a full hour the hour of running pods is posted, so that ends
 *     that are reported late need no correction
 * @param databaseRetry how long to wait before a posting is tried again
 * @param resumeGrace how long after a restart the API server may take to report what happened
 *     meanwhile, before a vanished pod's end is estimated
 * @param keepCharges how long single charges are kept, in whole months; zero for ever. Hourly sums
 *     stay, and so do all months since a period began that is still open
 * @param settleEvery how often budgets that charge by measured use are brought to what node agents
 *     have measured; until then they stand as if charged by allocation
 * @param idleFloorPercent what an idle share costs such a budget, in percent of a busy one
 * @param postingSize the rows of one table beyond which a posting is committed and another one
 *     begins. What a posting takes in memory should be gone before the garbage collector takes it
 *     for something that stays: a few megabytes
 */
@ConfigurationProperties("gpusharing.ledger")
public record LedgerProperties(
        @DefaultValue("30s") Duration hourCloses,
        @DefaultValue("1s") Duration databaseRetry,
        @DefaultValue("10s") Duration resumeGrace,
        @DefaultValue("P0M") Period keepCharges,
        @DefaultValue("10m") Duration settleEvery,
        @DefaultValue("10") int idleFloorPercent,
        @DefaultValue("5000") int postingSize) {

    private static final int MAX_MONTHS = 12_000;

    public LedgerProperties {
        if (!isLegal(keepCharges)) {
            throw new IllegalArgumentException(
                    "gpusharing.ledger.keep-charges is %s; write whole months, for instance P13M, or P0M for ever"
                            .formatted(keepCharges));
        }
        if (settleEvery.toSeconds() < 1) {
            throw new IllegalArgumentException(
                    "gpusharing.ledger.settle-every is %s; write a second or more, for instance 10m"
                            .formatted(settleEvery));
        }
    }

    /** Whole months, a thousand years at most. */
    private static boolean isLegal(Period period) {
        return period.equals(period.withDays(0))
                && !period.isNegative()
                && period.toTotalMonths() <= MAX_MONTHS;
    }
}
