package io.gpusharing.e2e.cluster;

import io.gpusharing.recount.AuditLog;
import io.gpusharing.recount.Bill;
import io.gpusharing.recount.Recount;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Map;

/**
 * What the pods of a test cluster owe, recounted from its audit log by the product's own recount.
 */
public final class AuditBills {

    /** A test cluster's API server may be down for a while; the bills say what is missing. */
    private static final Duration SILENCE = Duration.ofHours(1);

    private AuditBills() {}

    /** The bills of all pods that asked for GPUs and were placed, by uid. */
    public static Map<String, Bill> of(TestCluster cluster) {
        try {
            AuditLog log = AuditLog.read(cluster.auditLog(), SILENCE);
            if (!log.defects().isEmpty()) {
                throw new IllegalStateException("The audit log: " + log.defects());
            }
            return Recount.of(log, true);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Micro-GPU-seconds of a whole pod, charged by the larger of its parts.
     *
     * @throws IllegalStateException if it has not ended, or cannot be recounted
     */
    public static long amount(Bill bill) {
        if (bill.to() == null || bill.unknown() != null) {
            throw new IllegalStateException(
                    "%s/%s: %s"
                            .formatted(
                                    bill.namespace(),
                                    bill.name(),
                                    bill.unknown() == null ? "still runs" : bill.unknown()));
        }
        return bill.amount("Max", 1_000_000, bill.from(), bill.to());
    }
}
