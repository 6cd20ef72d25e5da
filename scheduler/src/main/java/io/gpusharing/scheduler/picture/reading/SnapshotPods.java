package io.gpusharing.scheduler.picture.reading;

import io.gpusharing.kubernetes.GpuEviction;
import io.gpusharing.scheduler.picture.Holder;
import io.gpusharing.scheduler.picture.Waiter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The pods of one snapshot: who waits, and who holds what. */
final class SnapshotPods {

    final List<Waiter> waiters = new ArrayList<>();
    final GroupGpus groups = new GroupGpus();
    private final List<Holder> gpuPods = new ArrayList<>();
    private final Map<String, Long> sizes;

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
        sizes =
                gpuPods.stream()
                        .collect(Collectors.groupingBy(Holder::gang, Collectors.counting()));
    }

    /** All pods that hold GPUs. */
    List<Holder> gpuPods() {
        return inGangs(gpuPods);
    }

    /**
     * Pods in the gangs in which they go. One that no plan could name is none, lest its size
     * protect its pods: they go one by one.
     */
    List<Holder> inGangs(List<Holder> pods) {
        return pods.stream()
                .map(it ->
                        sizes.getOrDefault(it.gang(), 1L) > GpuEviction.MOST_VICTIMS
                                ? it.alone()
                                : it)
                .toList();
    }
}
