package io.gpusharing.sidecar.meter;

import static java.util.Objects.requireNonNull;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Which rung one device is metered on. Every rung proves itself again and again; the meter falls at
 * once when its rung is refused, and rises only to a rung that was proven for three minutes without
 * a break. {@link Basis#ALLOCATION} needs no proof. Judged by the NVML thread, read by reports.
 */
final class Ladder {

    static final long GOOD_MICROS = 180_000_000;

    private static final Basis[] RUNGS = Basis.values();

    private final Map<Basis, Rung> rungs = new EnumMap<>(Basis.class);
    private Basis current = Basis.ALLOCATION;
    private boolean settled;

    /** What is known of one rung: refused with a reason, or proven since a moment. */
    private static final class Rung {
        @Nullable String refusal = "not tried yet";
        long provenSince;
    }

    Ladder() {
        for (Basis basis : RUNGS) {
            rungs.put(basis, new Rung());
        }
        rung(Basis.ALLOCATION).refusal = null;
    }

    /** A rung passed its self-test at this moment. */
    synchronized void proven(Basis basis, long nowMicros) {
        Rung rung = rung(basis);
        if (rung.refusal != null) {
            rung.refusal = null;
            rung.provenSince = nowMicros;
        }
    }

    /** A rung cannot be used, and why. */
    synchronized void refused(Basis basis, String reason) {
        rung(basis).refusal = reason;
    }

    /** Every rung but the last is refused for one reason, for instance a lost device. */
    synchronized void refuseAll(String reason) {
        refused(Basis.PROCESS, reason);
        refused(Basis.DEVICE, reason);
        refused(Basis.DEVICE_SPLIT, reason);
    }

    /** Takes the rung that the judgements so far allow. */
    synchronized Basis settle(long nowMicros) {
        for (Basis basis : RUNGS) {
            Rung rung = rung(basis);
            boolean climbs = settled && basis.compareTo(current) < 0;
            if (rung.refusal == null && (!climbs || nowMicros - rung.provenSince >= GOOD_MICROS)) {
                current = basis;
                break;
            }
        }
        settled = true;
        return current;
    }

    private Rung rung(Basis basis) {
        return requireNonNull(rungs.get(basis));
    }

    synchronized Basis current() {
        return current;
    }

    /** Why no better rung is used; empty on the highest. */
    synchronized String reason() {
        List<Basis> better =
                Arrays.stream(RUNGS).filter(basis -> basis.compareTo(current) < 0).toList();
        List<String> words = better.stream().map(this::refusal).distinct().toList();
        return words.size() == 1
                ? words.getFirst()
                : better.stream()
                        .map(basis -> basis.wire() + ": " + refusal(basis))
                        .collect(Collectors.joining("; "));
    }

    private String refusal(Basis basis) {
        String refusal = rung(basis).refusal;
        return refusal == null ? "works again, not yet for three minutes" : refusal;
    }
}
