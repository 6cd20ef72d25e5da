package io.gpusharing.request.grammar;

import io.gpusharing.request.NodeFact;
import io.gpusharing.request.grammar.MigGpu.Reading;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * What a MIG profile is worth on a node.
 *
 * @param slice the part of a GPU; where the node does not say which of several readings holds, the
 *     larger of each part, and a whole GPU for a profile that is not in the table
 * @param missing what the node leaves out
 */
record MigProfile(MigSlice slice, Set<NodeFact> missing) {

    /** A GPU that is not divided. */
    static final MigProfile WHOLE_GPU = new MigProfile(MigSlice.WHOLE_GPU, Set.of());

    /** Some part of a GPU, nobody knows which; counts as all of it. */
    static final MigProfile UNKNOWN =
            new MigProfile(MigSlice.WHOLE_GPU, Set.of(NodeFact.MIG_PROFILE));

    /**
     * @param profile for instance {@code 1g.10gb} or {@code 1g.10gb.me}
     * @param product the GPU's product name as gpu-feature-discovery writes it, empty if not known
     * @param mebibytes memory of the whole GPU, 0 if not known
     */
    static MigProfile of(String profile, String product, long mebibytes) {
        List<Reading> readings = MigGpu.readings(profile);
        if (readings.isEmpty()) {
            return UNKNOWN;
        }
        if (agree(readings)) {
            return new MigProfile(readings.getFirst().slice(), Set.of());
        }
        List<Reading> left = narrowed(readings, product, mebibytes);
        MigSlice largest = left.getFirst().slice();
        for (Reading reading : left) {
            largest = largest.max(reading.slice());
        }
        return new MigProfile(largest, agree(left) ? Set.of() : Set.of(NodeFact.GPU_MODEL));
    }

    private static List<Reading> narrowed(List<Reading> readings, String product, long mebibytes) {
        var named = new ArrayList<Reading>();
        for (Reading reading : readings) {
            if (reading.gpu().isNamedBy(product)) {
                named.add(reading);
            }
        }
        if (!named.isEmpty()) {
            return named;
        }
        if (mebibytes <= 0) {
            return readings;
        }
        long nearest = Long.MAX_VALUE;
        for (Reading reading : readings) {
            nearest = Math.min(nearest, reading.gpu().distance(mebibytes));
        }
        var near = new ArrayList<Reading>();
        for (Reading reading : readings) {
            if (reading.gpu().distance(mebibytes) == nearest) {
                near.add(reading);
            }
        }
        return near;
    }

    private static boolean agree(List<Reading> readings) {
        for (Reading reading : readings) {
            if (!reading.slice().equals(readings.getFirst().slice())) {
                return false;
            }
        }
        return true;
    }
}
