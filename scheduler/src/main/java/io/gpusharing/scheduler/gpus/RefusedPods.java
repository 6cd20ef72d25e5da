package io.gpusharing.scheduler.gpus;

import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.sharing.Strategy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Pods for which there was no room when they were asked about last. Belongs to one thread at a
 * time.
 */
final class RefusedPods {

    private final SequencedMap<String, GpuPod> pods = new LinkedHashMap<>();

    /** Those for which it could not be said who is to go. */
    private final SequencedMap<String, GpuPod> unanswered = new LinkedHashMap<>();

    /** How much had changed when nobody had room. */
    private long known = -1;

    /** The same of the round that is under way, and who had no room in it so far. */
    private long looking = -1;

    private final Set<String> without = new HashSet<>();

    /**
     * Pods that fit or do not fit together.
     *
     * @param pod the UID of one for which room is kept, since that is in nobody's way but others'
     */
    private record Kind(
            List<ContainerAsk> asks, int priority, Strategy strategy, @Nullable String pod) {}

    void put(GpuPod pod) {
        remove(pod.uid());
        pods.put(pod.uid(), pod);
    }

    void unanswered(GpuPod pod) {
        remove(pod.uid());
        unanswered.put(pod.uid(), pod);
    }

    /** The others come before it. */
    void putOff(String podUid) {
        putLast(pods, podUid);
        putLast(unanswered, podUid);
    }

    private static void putLast(SequencedMap<String, GpuPod> pods, String podUid) {
        GpuPod pod = pods.get(podUid);
        if (pod != null) {
            pods.putLast(podUid, pod);
        }
    }

    void remove(String podUid) {
        pods.remove(podUid);
        unanswered.remove(podUid);
        without.remove(podUid);
    }

    int size() {
        return pods.size() + unanswered.size();
    }

    /**
     * Those for which there is room by now, and those for which nobody could answer. It looks at a
     * few kinds of pods, and at the next ones when it is asked again: whoever makes thousands that
     * fit nowhere must not keep others waiting.
     *
     * @param most so many kinds and so many pods at most
     * @param changes how often there may have come to be more room
     * @param beside the same pod on the GPUs where it may be
     * @param kept whether room is kept for a pod
     */
    List<GpuPod> wakeable(
            int most,
            long changes,
            UnaryOperator<GpuPod> beside,
            Predicate<GpuPod> kept,
            Predicate<GpuPod> hasRoom) {
        List<GpuPod> found = withRoom(most, changes, beside, kept, hasRoom);
        unanswered.values().stream().limit(most - found.size()).forEach(found::add);
        return found;
    }

    private List<GpuPod> withRoom(
            int most,
            long changes,
            UnaryOperator<GpuPod> beside,
            Predicate<GpuPod> kept,
            Predicate<GpuPod> hasRoom) {
        var found = new ArrayList<GpuPod>();
        if (known == changes) {
            return found;
        }
        if (looking != changes) {
            looking = changes;
            without.clear();
        }
        var kinds = new HashMap<Kind, Boolean>();
        for (GpuPod pod : List.copyOf(pods.values())) {
            if (found.size() == most) {
                return found;
            }
            GpuPod there = beside.apply(pod);
            var kind =
                    new Kind(
                            there.asks(),
                            pod.priority(),
                            pod.strategy(),
                            kept.test(pod) ? pod.uid() : null);
            if (without.contains(pod.uid()) || (kinds.size() == most && !kinds.containsKey(kind))) {
                continue;
            }
            if (kinds.computeIfAbsent(kind, it -> hasRoom.test(there))) {
                found.add(pod);
            } else {
                // Those that were not looked at are next.
                pods.putLast(pod.uid(), pod);
                without.add(pod.uid());
            }
        }
        if (without.size() == pods.size()) {
            known = changes;
        }
        return found;
    }
}
