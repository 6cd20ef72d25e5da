package io.gpusharing.scheduler.picture.reading;

import io.gpusharing.scheduler.picture.Holder;
import io.gpusharing.scheduler.picture.Waiter;
import io.gpusharing.scheduler.pods.Gangs;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/** The pods of one snapshot: who waits, and who holds what. */
final class SnapshotPods {

    final List<Waiter> waiters = new ArrayList<>();
    final GroupGpus groups = new GroupGpus();
    private final List<Holder> gpuPods = new ArrayList<>();
    private final Set<String> tooLarge;

    /**
     * @param pods all with our label
     * @param present what one of them holds at the snapshot's instant
     */
    SnapshotPods(Collection<KnownPod> pods, Function<KnownHolder, Holder> present) {
        for (KnownPod pod : pods) {
            if (pod.waiter() != null) {
                waiters.add(pod.waiter());
                if (pod.group() != null) {
                    groups.waits(pod.group(), pod.waiter());
                }
            }
            if (pod.holder() != null) {
                Holder holder = present.apply(pod.holder());
                gpuPods.add(holder);
                if (pod.group() != null && pod.holder().isBound()) {
                    groups.holds(pod.group(), holder);
                }
            }
        }
        var sizes = new HashMap<String, Integer>();
        gpuPods.forEach(pod -> sizes.merge(pod.gang(), 1, Integer::sum));
        tooLarge = Gangs.tooLarge(sizes);
    }

    /** All pods that hold GPUs. */
    List<Holder> gpuPods() {
        return inGangs(gpuPods);
    }

    /** Pods in the gangs in which they go. */
    List<Holder> inGangs(List<Holder> pods) {
        return pods.stream().map(it -> tooLarge.contains(it.gang()) ? it.alone() : it).toList();
    }
}
