package io.gpusharing.recount;

import io.gpusharing.recount.Payers.Answer;
import io.gpusharing.recount.Payers.Paid;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * The ledger beside the recount, pod by pod, over [from, to).
 *
 * @param equal pods on which both agree, to the micro-GPU-second
 * @param paid those of them that were on the right account all the time; of the others the log does
 *     not tell
 * @param findings all others
 * @param defects what is wrong with the log: it does not show all of the span
 */
public record Comparison(
        Instant from,
        Instant to,
        long equal,
        long paid,
        List<Finding> findings,
        List<String> defects) {

    /** What is said of a pod that is not simply equal. */
    public enum Verdict {
        /** Both know it, and they differ. */
        DIFFERENT,
        /** The ledger says itself that it estimated the end, and they differ by nothing else. */
        ESTIMATED,
        /** The log does not contain enough. */
        NOT_RECOUNTED
    }

    /**
     * A pod that is not simply equal.
     *
     * @param ledger micro-GPU-seconds
     * @param recount micro-GPU-seconds; null if it cannot be known
     */
    public record Finding(
            Verdict verdict,
            String uid,
            String pod,
            long ledger,
            @Nullable Long recount,
            String why) {}

    /**
     * Compares.
     *
     * @param wholeGpus whether whole {@code nvidia.com/gpu} are charged here
     */
    public static Comparison of(
            Map<String, Charged> ledger,
            AuditLog log,
            boolean wholeGpus,
            Instant from,
            Instant to) {
        Map<String, Bill> bills = Recount.of(log, wholeGpus, ledger.keySet());
        var uids = new TreeSet<>(ledger.keySet());
        uids.addAll(bills.keySet());
        var findings = new ArrayList<Finding>();
        long equal = 0;
        long paid = 0;
        for (String uid : uids) {
            Charged charged = ledger.get(uid);
            Finding finding = readable(uid, charged, bills.get(uid), log, from, to);
            if (finding != null) {
                findings.add(finding);
            } else if (charged != null) {
                equal++;
                Answer answer = log.payers().judge(charged.namespace(), charged.paid());
                Finding account = account(uid, charged, answer);
                if (account != null) {
                    findings.add(account);
                } else if (answer instanceof Answer.Right) {
                    paid++;
                }
            }
        }
        return new Comparison(from, to, equal, paid, findings, defects(log, from, to));
    }

    /** Whether no pod differs. */
    public boolean agrees() {
        return findings.stream().noneMatch(finding -> finding.verdict() == Verdict.DIFFERENT);
    }

    /** Whether the log contains enough to say so of every pod. */
    public boolean complete() {
        return defects.isEmpty()
                && findings.stream()
                        .noneMatch(finding -> finding.verdict() == Verdict.NOT_RECOUNTED);
    }

    /** What cannot be calculated of one pod concerns no other. */
    private static @Nullable Finding readable(
            String uid,
            @Nullable Charged charged,
            @Nullable Bill bill,
            AuditLog log,
            Instant from,
            Instant to) {
        try {
            return judge(uid, charged, bill, log, from, to);
        } catch (ArithmeticException e) {
            return new Finding(
                    Verdict.NOT_RECOUNTED,
                    uid,
                    name(uid, charged, bill),
                    charged == null ? 0 : charged.amount(),
                    null,
                    "could not be read: its amount is too large");
        }
    }

    private static String name(String uid, @Nullable Charged charged, @Nullable Bill bill) {
        return bill != null
                ? bill.namespace() + "/" + bill.name()
                : charged == null ? uid : charged.namespace() + "/" + charged.name();
    }

    private static @Nullable Finding judge(
            String uid,
            @Nullable Charged charged,
            @Nullable Bill bill,
            AuditLog log,
            Instant from,
            Instant to) {
        long amount = charged == null ? 0 : charged.amount();
        String name = name(uid, charged, bill);
        String unknown = unknown(charged, bill, log, from, to);
        String formula = charged == null ? "Max" : formula(charged, log);
        if (unknown == null && formula == null) {
            unknown = "its budget's share rule is not recounted, or changed in the span";
        }
        if (bill == null || formula == null || unknown != null) {
            return amount == 0 && unknown == null
                    ? null
                    : new Finding(
                            unknown == null ? Verdict.DIFFERENT : Verdict.NOT_RECOUNTED,
                            uid,
                            name,
                            amount,
                            null,
                            unknown == null ? "the log does not know this pod" : unknown);
        }
        long weight = charged == null ? 1_000_000 : charged.weight();
        Estimate estimate = charged == null ? null : Estimate.of(bill, charged, formula);
        long excess = estimate == null ? 0 : estimate.excess();
        long recount = bill.amount(formula, weight, from, to) + excess;
        Instant end = charged == null ? null : charged.heldUntil();
        // An end that is estimated or that the log leaves open excuses no wrong share.
        boolean sameButEnd =
                end != null
                        && bill.endingAt(end).amount(formula, weight, from, to) + excess == amount;
        if (recount == amount || (sameButEnd && bill.canEndAt(end))) {
            return estimate == null
                    ? null
                    : new Finding(
                            Verdict.NOT_RECOUNTED, uid, name, amount, recount, estimate.why());
        }
        if (bill.onUnknownGpu() && charged != null) {
            return new Finding(
                    Verdict.NOT_RECOUNTED,
                    uid,
                    name,
                    amount,
                    recount,
                    "the GpuNode of its node is not in the log, and its GPUs may differ");
        }
        boolean estimated = charged != null && charged.estimated() && sameButEnd;
        boolean allowed = estimated && charged != null && charged.allows(bill.to());
        return new Finding(
                allowed ? Verdict.ESTIMATED : Verdict.DIFFERENT,
                uid,
                name,
                amount,
                recount,
                why(charged, estimated, allowed));
    }

    private static String why(@Nullable Charged charged, boolean estimated, boolean allowed) {
        if (charged == null) {
            return "the ledger does not know this pod";
        }
        if (allowed) {
            return "the ledger marks its end as estimated";
        }
        return estimated
                ? "the ledger marks its end as estimated, by %s at the latest"
                        .formatted(charged.endBound())
                : "both differ";
    }

    /** What is to be said of who paid for a pod; null for nothing. */
    private static @Nullable Finding account(String uid, Charged charged, Answer answer) {
        return switch (answer) {
            case Answer.Right right -> null;
            case Answer.Unknown unknown -> null;
            case Answer.Otherwhen(Paid paid) ->
                    account(
                            uid,
                            charged,
                            Verdict.NOT_RECOUNTED,
                            paid,
                            "by the log that had its namespace at another time; after an outage a change holds from when it is seen");
            case Answer.Wrong(Paid paid) ->
                    account(
                            uid,
                            charged,
                            Verdict.DIFFERENT,
                            paid,
                            "by the log that never had its namespace");
        };
    }

    private static Finding account(
            String uid, Charged charged, Verdict verdict, Paid paid, String why) {
        return new Finding(
                verdict,
                uid,
                charged.namespace() + "/" + charged.name(),
                charged.amount(),
                charged.amount(),
                "from %s to %s %s paid, and %s"
                        .formatted(
                                paid.from(),
                                paid.to(),
                                paid.budget().isEmpty() ? "no budget" : "budget " + paid.budget(),
                                why));
    }

    private static @Nullable String unknown(
            @Nullable Charged charged,
            @Nullable Bill bill,
            AuditLog log,
            Instant from,
            Instant to) {
        if (bill != null && bill.unknown() != null) {
            return bill.unknown();
        }
        if (charged != null && charged.byUse()) {
            return "it was charged by measured use";
        }
        Instant first = log.first();
        Instant last = log.last();
        if (first == null || last == null) {
            return "the log is empty";
        }
        Instant end = charged == null ? null : charged.heldUntil();
        if (bill == null) {
            boolean before = from.isBefore(first);
            return before && charged != null
                    ? "the log begins at " + first + ", and never mentions it"
                    : log.gaps().isEmpty() ? null : "the log has gaps, and never mentions it";
        }
        if (bill.to() == null && end != null && !end.isAfter(to)) {
            for (AuditLog.Gap gap : log.gaps()) {
                if (gap.touches(end, end.plusSeconds(1))) {
                    return "the log has nothing between %s and %s, when it ended"
                            .formatted(gap.from(), gap.to());
                }
            }
            if (end.isAfter(last)) {
                return "the log ends at " + last + ", before the pod did";
            }
        }
        return null;
    }

    /** By which part the pod's budgets charge; null if that cannot be known. */
    private static @Nullable String formula(Charged charged, AuditLog log) {
        var formulas = new TreeSet<String>();
        for (Paid paid : charged.paid()) {
            List<JsonNode> shares = log.shares(paid.budget());
            if (shares.isEmpty()) {
                formulas.add("Max");
            }
            for (JsonNode share : shares) {
                if (!share.path("reference").asString("WholeGpu").equals("WholeGpu")) {
                    return null;
                }
                formulas.add(share.path("formula").asString("Max"));
            }
        }
        return formulas.isEmpty() ? "Max" : formulas.size() == 1 ? formulas.first() : null;
    }

    private static List<String> defects(AuditLog log, Instant from, Instant to) {
        var defects = new ArrayList<>(log.defects());
        Instant first = log.first();
        Instant last = log.last();
        if (first == null || last == null) {
            defects.add("the log is empty");
            return defects;
        }
        if (last.isBefore(to)) {
            defects.add("the log ends at %s, before %s".formatted(last, to));
        }
        log.gaps().stream()
                .filter(gap -> gap.touches(from, to))
                .forEach(gap ->
                        defects.add(
                                "the log has nothing between %s and %s"
                                        .formatted(gap.from(), gap.to())));
        return defects;
    }
}
