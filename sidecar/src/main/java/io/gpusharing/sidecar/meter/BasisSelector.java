package io.gpusharing.sidecar.meter;

import static java.util.Objects.requireNonNull;

import io.gpusharing.sidecar.usage.Basis;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Which basis one device is metered on. Every basis proves itself again and again; the meter falls
 * at once when its basis is refused, and rises only to a basis that was proven for three minutes
 * without a break. {@link Basis#ALLOCATION} needs no proof. Judged by the NVML thread, read by
 * reports.
 */
final class BasisSelector {

    static final long GOOD_MICROS = 180_000_000;

    private static final Basis[] BASES = Basis.values();

    private final Map<Basis, Proof> proofs = new EnumMap<>(Basis.class);
    private Basis current = Basis.ALLOCATION;
    private boolean settled;

    /** What is known of one basis: refused with a reason, or proven since a moment. */
    private static final class Proof {
        @Nullable String refusal = "not tried yet";
        long provenSince;
    }

    BasisSelector() {
        for (Basis basis : BASES) {
            proofs.put(basis, new Proof());
        }
        proof(Basis.ALLOCATION).refusal = null;
    }

    /** A basis passed its self-test at this moment. */
    synchronized void proven(Basis basis, long nowMicros) {
        Proof proof = proof(basis);
        if (proof.refusal != null) {
            proof.refusal = null;
            proof.provenSince = nowMicros;
        }
    }

    /** A basis cannot be used, and why. */
    synchronized void refused(Basis basis, String reason) {
        proof(basis).refusal = reason;
    }

    /** Every basis but the last is refused for one reason, for instance a lost device. */
    synchronized void refuseAll(String reason) {
        refused(Basis.PROCESS, reason);
        refused(Basis.DEVICE, reason);
        refused(Basis.DEVICE_SPLIT, reason);
    }

    /** Takes the basis that the checks so far allow. */
    synchronized Basis settle(long nowMicros) {
        for (Basis basis : BASES) {
            Proof proof = proof(basis);
            boolean climbs = settled && basis.compareTo(current) < 0;
            if (proof.refusal == null
                    && (!climbs || nowMicros - proof.provenSince >= GOOD_MICROS)) {
                current = basis;
                break;
            }
        }
        settled = true;
        return current;
    }

    private Proof proof(Basis basis) {
        return requireNonNull(proofs.get(basis));
    }

    synchronized Basis current() {
        return current;
    }

    /** Why no better basis is used; empty on the highest. */
    synchronized String reason() {
        List<Basis> better =
                Arrays.stream(BASES).filter(basis -> basis.compareTo(current) < 0).toList();
        List<String> words = better.stream().map(this::refusal).distinct().toList();
        return words.size() == 1
                ? words.getFirst()
                : better.stream()
                        .map(basis -> basis.wire() + ": " + refusal(basis))
                        .collect(Collectors.joining("; "));
    }

    private String refusal(Basis basis) {
        String refusal = proof(basis).refusal;
        return refusal == null ? "works again, not yet for three minutes" : refusal;
    }
}
