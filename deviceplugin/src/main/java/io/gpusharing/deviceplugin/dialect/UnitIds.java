package io.gpusharing.deviceplugin.dialect;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
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
        return "g" + gpu + "-" + unit;
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
        var chosen = new LinkedHashSet<>(needed);
        var byGpu = new TreeMap<String, List<String>>();
        for (String id : available) {
            if (!chosen.contains(id)) {
                byGpu.computeIfAbsent(gpu(id), gpu -> new ArrayList<>()).add(id);
            }
        }
        var order = new ArrayList<>(byGpu.entrySet());
        int missing = size - chosen.size();
        String beside = needed.isEmpty() ? "" : gpu(needed.getFirst());
        order.sort(
                Comparator.<Map.Entry<String, List<String>>, Boolean>comparing(
                                gpu -> !gpu.getKey().equals(beside))
                        .thenComparingInt(gpu -> {
                            int left = gpu.getValue().size();
                            // Those that have enough by how little, then the others by how much.
                            return left >= missing ? left : Integer.MAX_VALUE - left;
                        }));
        for (var gpu : order) {
            for (String id : gpu.getValue()) {
                if (chosen.size() >= size) {
                    return List.copyOf(chosen);
                }
                chosen.add(id);
            }
        }
        return List.copyOf(chosen);
    }

    private static String gpu(String id) {
        int dash = id.indexOf('-');
        return dash < 0 ? id : id.substring(0, dash);
    }
}
