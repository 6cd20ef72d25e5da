package io.gpusharing.timekeeper.allocation;

import io.gpusharing.budget.GpuTime;
import java.math.BigInteger;

/**
 * What a pod costs whose budget charges by measured use: of the time that was measured, the part of
 * its share that it was busy, but never less than the idle floor nor more than its share; of the
 * time that was not measured, its share.
 *
 * <p>It depends on sums only, not on when or in how many pieces they became known, so a report that
 * comes late, twice or out of order changes nothing in the end.
 *
 * @param idleFloorPercent what an idle share still costs, 0..100
 */
public record UseRule(int idleFloorPercent) {

    public UseRule {
        if (idleFloorPercent < 0 || idleFloorPercent > 100) {
            throw new IllegalArgumentException("No percentage: " + idleFloorPercent);
        }
    }

    /**
     * What is due.
     *
     * @param rate micro-GPUs that are charged for the share
     * @param share micro-GPUs that being busy is compared with: the compute part
     * @param held seconds that the share was held
     * @param covered microseconds that were measured; more than was held counts as all of it
     * @param used busy time in that time, in micro-GPU-seconds of whole GPUs
     */
    public GpuTime due(long rate, long share, long held, long covered, long used) {
        BigInteger allocated = BigInteger.valueOf(rate);
        // Whole seconds, so that a second that was measured in part counts as not measured.
        long measured = Math.clamp(covered / 1_000_000, 0, held);
        BigInteger most = allocated.multiply(BigInteger.valueOf(measured));
        BigInteger least =
                most.multiply(BigInteger.valueOf(idleFloorPercent)).divide(BigInteger.valueOf(100));
        BigInteger busy =
                share == 0
                        ? most
                        : allocated
                                .multiply(BigInteger.valueOf(Math.max(0, used)))
                                .divide(BigInteger.valueOf(share));
        return new GpuTime(
                allocated
                        .multiply(BigInteger.valueOf(held - measured))
                        .add(busy.max(least).min(most))
                        .longValueExact());
    }
}
