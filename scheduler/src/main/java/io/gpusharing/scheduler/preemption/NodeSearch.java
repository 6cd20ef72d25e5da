package io.gpusharing.scheduler.preemption;

import io.gpusharing.placement.Gpu;
import io.gpusharing.placement.GpuLayout;
import io.gpusharing.placement.PodPlacement;
import io.gpusharing.scheduler.gpus.Placement;
import io.gpusharing.scheduler.preemption.NodeState.Gang;
import io.gpusharing.scheduler.preemption.Preemption.Cost;
import io.gpusharing.sharing.Amounts;
import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.wire.ContainerPlacement;
import io.gpusharing.wire.GpuHold;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Chooses who goes from one node: GPU by GPU, those who are on it, and those on others beside it as
 * long as the pod wants more of them; and of all these only who is needed.
 *
 * <p>Gangs and GPUs have numbers here, by their places in the {@link NodeState}: hundreds of nodes
 * are searched while kube-scheduler waits.
 */
final class NodeSearch {

    private final Preemptor preemptor;
    private final List<DisruptionBudget> budgets;
    private final NodeState state;
    private final List<Gang> gangs;

    /** Who has a part of each GPU, or all of it. */
    private final List<List<Part>> parts;

    private record Part(int gang, GpuHold hold) {}

    private NodeSearch(Preemptor preemptor, List<DisruptionBudget> budgets, NodeState state) {
        this.preemptor = preemptor;
        this.budgets = budgets;
        this.state = state;
        this.gangs = state.gangs();
        this.parts = state.gpus().stream().map(this::parts).toList();
    }

    private List<Part> parts(Gpu gpu) {
        var found = new ArrayList<Part>();
        for (int gang = 0; gang < gangs.size(); gang++) {
            for (GpuHold hold : gangs.get(gang).held()) {
                if (hold.gpu().equals(gpu.id())) {
                    found.add(new Part(gang, hold));
                }
            }
        }
        return found;
    }

    /** Empty if the pod does not fit there, whoever goes. */
    static Optional<Preemption> search(
            Preemptor preemptor, List<DisruptionBudget> budgets, NodeState state) {
        return new NodeSearch(preemptor, budgets, state).search();
    }

    private Optional<Preemption> search() {
        var nobody = new BitSet();
        var everybody = new BitSet();
        everybody.set(0, gangs.size());
        // Those for whom room is being made may take it elsewhere by then, or leave enough.
        if (fits(nobody, state.amounts())) {
            return Optional.of(preemption(nobody));
        }
        if (!fits(everybody)) {
            return Optional.empty();
        }
        if (fitsOnGpus(nobody)) {
            // It wants for something else.
            return Optional.of(sparing(nobody));
        }
        return IntStream.range(0, parts.size())
                .mapToObj(gpu -> sparing(around(gpu)))
                .min(Preemption.BEST_FIRST);
    }

    /** Who is on this GPU, and on those that cost least beside it, until the pod fits on GPUs. */
    private BitSet around(int gpu) {
        var emptied = new BitSet();
        emptied.set(gpu);
        BitSet going = with(new BitSet(), gpu);
        while (!fitsOnGpus(going)) {
            BitSet soFar = going;
            int next =
                    IntStream.range(0, parts.size())
                            .filter(other -> !emptied.get(other))
                            .boxed()
                            .min(Comparator.comparing(other -> cost(with(soFar, other))))
                            .orElseThrow();
            emptied.set(next);
            going = with(soFar, next);
        }
        return going;
    }

    private BitSet with(BitSet going, int gpu) {
        var more = (BitSet) going.clone();
        parts.get(gpu).forEach(part -> more.set(part.gang()));
        return more;
    }

    /**
     * Of these only who is needed: whom a PodDisruptionBudget guards is spared first, then who is
     * most important. The others go only where sums are short.
     */
    private Preemption sparing(BitSet chosen) {
        var going = (BitSet) chosen.clone();
        if (!fits(going)) {
            going.set(0, gangs.size());
        }
        Set<String> guarded = DisruptionBudget.violated(budgets, pods(going));
        List<Integer> order =
                going.stream()
                        .boxed()
                        .sorted(
                                Comparator.comparing((Integer gang) -> chosen.get(gang))
                                        .thenComparing(gang ->
                                                gangs.get(gang).pods().stream()
                                                        .map(RunningPod::uid)
                                                        .noneMatch(guarded::contains))
                                        .thenComparing(gangs::get, Gang.MOST_IMPORTANT_FIRST))
                        .toList();
        int before;
        do {
            before = going.cardinality();
            for (int gang : order) {
                if (going.get(gang)) {
                    going.clear(gang);
                    going.set(gang, !fits(going));
                }
            }
            // Where containers were packed otherwise meanwhile, somebody may not be in the way now.
        } while (going.cardinality() < before);
        return preemption(going);
    }

    private Preemption preemption(BitSet going) {
        return new Preemption(
                state.node(),
                pods(going).stream().sorted(RunningPod.MOST_IMPORTANT_FIRST).toList(),
                cost(going),
                new Placement(state.node(), placed(going).orElseThrow()),
                state.left());
    }

    private Cost cost(BitSet going) {
        return Cost.of(pods(going), budgets);
    }

    private List<RunningPod> pods(BitSet going) {
        var pods = new ArrayList<RunningPod>();
        going.stream().forEach(gang -> pods.addAll(gangs.get(gang).pods()));
        return pods;
    }

    private boolean fits(BitSet going) {
        return fits(going, state.amounts().minus(state.nominated()));
    }

    private boolean fits(BitSet going, Amounts emptied) {
        return fitsOnGpus(going) && fitsIntoSums(going, emptied);
    }

    private boolean fitsIntoSums(BitSet going, Amounts emptied) {
        if (preemptor.requests().equals(Amounts.NONE)) {
            return true;
        }
        Amounts left = emptied;
        for (int gang = 0; gang < gangs.size(); gang++) {
            left = going.get(gang) ? left : left.minus(gangs.get(gang).requests());
        }
        return preemptor.requests().fitInto(left);
    }

    private boolean fitsOnGpus(BitSet going) {
        if (preemptor.asks().size() > 1) {
            return placed(going).isPresent();
        }
        // The same for nearly all pods, and much faster.
        GpuAsk ask = preemptor.asks().getFirst().ask();
        return left(going).stream().filter(gpu -> gpu.fits(ask)).count() >= ask.count();
    }

    private Optional<List<ContainerPlacement>> placed(BitSet going) {
        return PodPlacement.placed(preemptor.asks(), new GpuLayout(left(going)));
    }

    private List<Gpu> left(BitSet going) {
        var left = new ArrayList<>(state.gpus());
        for (int gpu = 0; gpu < left.size(); gpu++) {
            for (Part part : parts.get(gpu)) {
                if (!going.get(part.gang())) {
                    left.set(gpu, left.get(gpu).without(part.hold()));
                }
            }
        }
        return left;
    }
}
