package io.gpusharing.scheduler.gpus;

import io.gpusharing.sharing.GpuGroup;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedSet;
import org.jspecify.annotations.Nullable;

/** Which pods are to share a GPU with whom. Belongs to one thread at a time. */
final class GpuGroups {

    private static final SequencedSet<String> NOBODY =
            Collections.unmodifiableSequencedSet(new LinkedHashSet<>());

    /** UIDs of pods that have a GPU, or are about to have one; who came first comes first. */
    private final Map<GpuGroup, SequencedSet<String>> members = new HashMap<>();

    /** UIDs of those that wait. */
    private final Map<GpuGroup, SequencedSet<String>> waiters = new HashMap<>();

    private final Map<String, GpuGroup> byPod = new HashMap<>();

    /** A pod has a GPU, or is about to have one. */
    void join(GpuPod pod) {
        put(pod, members);
    }

    /** There is no room for a pod. */
    void await(GpuPod pod) {
        put(pod, waiters);
    }

    private void put(GpuPod pod, Map<GpuGroup, SequencedSet<String>> to) {
        GpuGroup group = pod.group();
        if (group == null || !to.getOrDefault(group, NOBODY).contains(pod.uid())) {
            remove(pod.uid());
        }
        if (group != null) {
            byPod.put(pod.uid(), group);
            to.computeIfAbsent(group, it -> new LinkedHashSet<>()).add(pod.uid());
        }
    }

    void remove(String podUid) {
        GpuGroup group = byPod.remove(podUid);
        if (group != null) {
            remove(podUid, group, members);
            remove(podUid, group, waiters);
        }
    }

    private static void remove(
            String podUid, GpuGroup group, Map<GpuGroup, SequencedSet<String>> from) {
        from.computeIfPresent(
                group,
                (it, pods) -> {
                    pods.remove(podUid);
                    return pods.isEmpty() ? null : pods;
                });
    }

    /** The group of a pod that is known; null if it is in none. */
    @Nullable GpuGroup of(String podUid) {
        return byPod.get(podUid);
    }

    /** The others of a group that have a GPU, or are about to; who came first comes first. */
    List<String> others(String podUid, @Nullable GpuGroup group) {
        return group == null
                ? List.of()
                : members.getOrDefault(group, NOBODY).stream()
                        .filter(uid -> !uid.equals(podUid))
                        .toList();
    }

    /** Those of a group that wait, always in the same order. */
    List<String> waiting(GpuGroup group) {
        return waiters.getOrDefault(group, NOBODY).stream().sorted().toList();
    }
}
