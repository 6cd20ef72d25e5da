package io.gpusharing.deviceplugin.dialect;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import java.util.regex.Pattern;

/**
 * Names for the units of a resource, {@code g<index of the GPU>-<number>}, and which of them a
 * container should get. What it gets of which GPU is decided when it starts, but whoever reads the
 * kubelet's lists shall see the same there, as far as a kubelet follows the preference.
 */
public final class UnitIds {

    private static final Pattern OURS = Pattern.compile("g\\d+-\\d+");

    private UnitIds() {}

    /** The name of a unit. */
    public static String id(int gpu, long unit) {
        return gpu(gpu) + "-" + unit;
    }

    /** What the names of a GPU's units begin with. */
    public static String gpu(int index) {
        return "g" + index;
    }

    /** Whether a name is one of ours. */
    public static boolean isOurs(String id) {
        return OURS.matcher(id).matches();
    }

    /**
     * The units to give away: of one GPU where one has enough, of the one with the fewest left; for
     * more than a GPU those that are all free first.
     *
     * @param available ids that are free
     * @param needed ids that are given in any case
     * @param size how many in all, {@code needed} included
     */
    public static List<String> preferred(List<String> available, List<String> needed, int size) {
        return preferred(available, needed, size, UnitIds::gpu, id -> 0);
    }

    /**
     * The same where units may be of other GPUs than their names say; for more than a GPU those of
     * one NUMA node, where one has enough.
     *
     * @param gpu of a unit
     * @param node of a unit
     */
    public static List<String> preferred(
            List<String> available,
            List<String> needed,
            int size,
            Function<String, String> gpu,
            ToIntFunction<String> node) {
        var chosen = new LinkedHashSet<>(needed);
        var byGpu = new TreeMap<String, List<String>>();
        var byNode = new HashMap<Integer, Integer>();
        for (String id : available) {
            if (!chosen.contains(id)) {
                byGpu.computeIfAbsent(gpu.apply(id), it -> new ArrayList<>()).add(id);
                byNode.merge(node.applyAsInt(id), 1, Integer::sum);
            }
        }
        var order = new ArrayList<>(byGpu.entrySet());
        int missing = size - chosen.size();
        String beside = needed.isEmpty() ? "" : gpu.apply(needed.getFirst());
        order.sort(
                Comparator.<Map.Entry<String, List<String>>, Boolean>comparing(
                                it -> !it.getKey().equals(beside))
                        .thenComparingInt(it -> byHowLittle(it.getValue().size(), missing, 0))
                        .thenComparingInt(it -> {
                            int of = node.applyAsInt(it.getValue().getFirst());
                            return byHowLittle(byNode.getOrDefault(of, 0), missing, 1);
                        })
                        .thenComparingInt(it -> node.applyAsInt(it.getValue().getFirst()))
                        .thenComparingInt(it -> -it.getValue().size()));
        for (var each : order) {
            for (String id : each.getValue()) {
                if (chosen.size() >= size) {
                    return List.copyOf(chosen);
                }
                chosen.add(id);
            }
        }
        return List.copyOf(chosen);
    }

    /** Those that have enough by how little, then the others alike or by how much. */
    private static int byHowLittle(int left, int missing, int byHowMuch) {
        return left >= missing ? left : Integer.MAX_VALUE - byHowMuch * left;
    }

    private static String gpu(String id) {
        int dash = id.indexOf('-');
        return dash < 0 ? id : id.substring(0, dash);
    }
}
