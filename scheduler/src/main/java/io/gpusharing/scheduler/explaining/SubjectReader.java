package io.gpusharing.scheduler.explaining;

import static java.util.Objects.requireNonNullElse;

import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.kubernetes.PodFacts;
import io.gpusharing.kubernetes.PodReader;
import io.gpusharing.request.grammar.GpuNames;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Waiter;
import io.gpusharing.scheduler.picture.reading.CapacityReader;
import io.gpusharing.scheduler.picture.reading.GroupGpus;
import io.gpusharing.scheduler.picture.reading.SchedulerReach;
import io.gpusharing.scheduler.picture.reading.WaiterReader;
import io.gpusharing.sharing.Amounts;
import io.gpusharing.wire.Explanation.State;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;

/** Reads a pod, or what is to be one, that somebody asks about. */
public final class SubjectReader {

    private final RequestGrammars grammars;
    private final PodReader pods;
    private final CapacityReader capacity;
    private final WaiterReader waiters;

    public SubjectReader(RequestGrammars grammars, CapacityReader capacity, SchedulerReach reach) {
        this.grammars = grammars;
        this.pods = new PodReader(grammars::reads);
        this.capacity = capacity;
        this.waiters = new WaiterReader(capacity, reach);
    }

    /**
     * @param pod as the API server stores it, or would
     * @param isNew whether it is not there
     * @param groups who shares GPUs by wish
     */
    public Subject read(Pod pod, boolean isNew, GroupGpus groups, Instant now) {
        PodFacts facts = pods.read(pod);
        State state = isNew ? State.New : state(facts);
        Waiter alone =
                waiters.read(
                        pod,
                        facts,
                        requireNonNullElse(facts.placement().unschedulableSince(), now));
        Waiter waiter = state == State.Bound ? alone : groups.beside(pod, alone);
        return new Subject(
                waiter,
                state,
                CapacityReader.request(pod.getSpec()),
                others(waiter.ask().requests()),
                state == State.Bound ? facts.placement().node() : null,
                state == State.Bound ? capacity.hold(pod, true).containers() : List.of(),
                notJudged(pod, waiter));
    }

    private static State state(PodFacts facts) {
        if (facts.lifecycle().terminal()) {
            return State.Ended;
        }
        if (facts.placement().node() != null) {
            return State.Bound;
        }
        if (facts.placement().gated()) {
            return State.Gated;
        }
        return facts.placement().unschedulableSince() == null ? State.NotTried : State.Waits;
    }

    private Amounts others(Amounts requests) {
        var others = new HashMap<String, BigDecimal>(requests.byResource());
        others.keySet().removeIf(name -> GpuNames.isGpu(name) || grammars.reads(name));
        return new Amounts(others);
    }

    private static List<String> notJudged(Pod pod, Waiter waiter) {
        var notJudged = new ArrayList<String>();
        if (waiter.unjudged() != null) {
            notJudged.add(waiter.unjudged());
        }
        if (pod.getSpec().getPriority() == null && pod.getSpec().getPriorityClassName() != null) {
            notJudged.add(
                    "its priority class %s is taken for priority 0"
                            .formatted(pod.getSpec().getPriorityClassName()));
        }
        return notJudged;
    }
}
