package io.gpusharing.scheduler.preemption;

import static io.gpusharing.scheduler.victims.Room.STAYS;

import io.gpusharing.placement.FreeCapacity;
import io.gpusharing.placement.PodAsk;
import io.gpusharing.scheduler.gpus.HeldGpus;
import io.gpusharing.scheduler.pods.Ending;
import io.gpusharing.scheduler.pods.Gangs;
import io.gpusharing.scheduler.preemption.NodePods.Load;
import io.gpusharing.scheduler.preemption.RunningPods.RunningGangs;
import io.gpusharing.scheduler.victims.Room;
import io.gpusharing.scheduler.victims.Room.Part;
import io.gpusharing.sharing.Amounts;
import io.gpusharing.wire.GpuHold;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Who may go for a pod: gangs whose priorities count for less now, as a whole.
 *
 * @param companions UIDs of pods with which it is to share a GPU: without them it would not
 * @param running the gangs of the whole cluster
 * @param priorities what priorities count for now
 * @param ending for whom of those that are being deleted it is waited
 */
record VictimFilter(
        Preemptor preemptor,
        Set<String> companions,
        RunningGangs running,
        PresentPriorities priorities,
        Ending ending,
        Instant now) {

    /**
     * In which reclaim takes what it may: whatever its rules say besides, a label protects nobody
     * for longer.
     */
    static final Duration LEFT_TO_RECLAIM = Duration.ofMinutes(3);

    /**
     * A node, and who may go from it.
     *
     * @param gangs by the numbers that they have in the room
     * @param left when those have ended that are being deleted, and that are not counted here
     */
    record Candidates(Room room, List<List<RunningPod>> gangs, Instant left) {}

    /** Counts nothing but GPUs. */
    VictimFilter byGpusAlone() {
        return new VictimFilter(
                preemptor.byGpusAlone(), companions, running, priorities, ending, now);
    }

    /**
     * @param expendable UIDs of pods: nobody goes but these and who is in a gang with one of them
     */
    Candidates filter(String node, HeldGpus gpus, NodePods pods, Set<String> expendable) {
        // What nobody takes out stays held: by those that stay, by those that are about to be
        // bound, and by those of whom nothing is known.
        var held = new HashMap<>(gpus.held());
        var parts = new ArrayList<Part>();
        Instant lastEnd = now;
        var byGang = new TreeMap<String, List<Load>>();
        for (Load bound : pods.bound()) {
            Load load = running.asItGoes(bound);
            RunningPod pod = load.pod();
            if (!pod.isDeleted()) {
                byGang.computeIfAbsent(pod.gang(), gang -> new ArrayList<>()).add(load);
            } else if (ending.isAwaited(pod.deletion())) {
                held.remove(pod.uid());
                lastEnd = pod.deletionOr(lastEnd);
            } else {
                parts.add(new Part(STAYS, load.requests(), List::of));
            }
        }
        var gangs = new ArrayList<List<RunningPod>>();
        for (Map.Entry<String, List<Load>> gang : byGang.entrySet()) {
            List<Load> itsPods = priorities.of(gang.getValue(), preemptor);
            boolean goes = mayGo(gang.getKey(), itsPods, expendable);
            int number = goes ? gangs.size() : STAYS;
            for (Load load : itsPods) {
                List<GpuHold> own = goes ? held.remove(load.pod().uid()) : null;
                parts.add(new Part(number, load.requests(), () -> own == null ? List.of() : own));
            }
            if (goes) {
                gangs.add(itsPods.stream().map(Load::pod).toList());
            }
        }
        held.values().forEach(holds -> parts.add(new Part(STAYS, Amounts.NONE, () -> holds)));
        return new Candidates(
                new Room(
                        node,
                        new PodAsk(preemptor.requests(), List.of(), preemptor.asks()),
                        new FreeCapacity(pods.allocatable(), gpus.all(), true),
                        parts,
                        nominated(pods),
                        List.of()),
                gangs,
                lastEnd);
    }

    private boolean mayGo(String gang, List<Load> pods, Set<String> expendable) {
        return !isKeptBySpread(gang, pods)
                && !gang.equals(preemptor.gang())
                && pods.stream().anyMatch(load -> expendable.contains(load.pod().uid()))
                && pods.stream().noneMatch(load -> companions.contains(load.pod().uid()))
                && pods.stream().allMatch(load -> load.pod().priority() < preemptor.priority())
                && !priorities.protects(pods);
    }

    /**
     * Pods on other nodes keep a gang, since kube-scheduler ends those of one node. Not where its
     * budget is used up and only a label says that it is one: anybody may write that into pods that
     * do not belong together. Where reclaim may take all of it, it has time to do so.
     */
    private boolean isKeptBySpread(String gang, List<Load> pods) {
        List<RunningPod> all = running.spread().get(gang);
        if (all == null) {
            return false;
        }
        return !Gangs.isNamedByLabel(gang)
                || !priorities.areOver(pods)
                || (isEarly() && priorities.areReclaimed(all, preemptor));
    }

    private boolean isEarly() {
        return preemptor.since() == null || now.isBefore(preemptor.since().plus(LEFT_TO_RECLAIM));
    }

    private Amounts nominated(NodePods pods) {
        return pods.nominated().stream()
                .filter(load -> !load.pod().uid().equals(preemptor.uid()))
                .filter(load -> load.pod().priority() >= preemptor.priority())
                .map(Load::requests)
                .reduce(Amounts.NONE, Amounts::plus);
    }
}
