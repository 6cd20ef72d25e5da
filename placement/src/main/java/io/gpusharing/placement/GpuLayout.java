package io.gpusharing.placement;

import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.sharing.Strategy;
import io.gpusharing.wire.GpuHold;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The physical GPUs of one node, and what is free of each. */
public record GpuLayout(List<Gpu> gpus) {

    public GpuLayout {
        gpus = List.copyOf(gpus);
    }

    /** The GPU of which most is free; one without anything if there is none. */
    public Gpu freest() {
        Gpu freest = new Gpu("", 0, 0);
        for (Gpu gpu : gpus) {
            freest = Leftover.part(gpu) > Leftover.part(freest) ? gpu : freest;
        }
        return freest;
    }

    /** How many there are of which nobody has anything. */
    public int idle() {
        int idle = 0;
        for (Gpu gpu : gpus) {
            idle += gpu.untouched() ? 1 : 0;
        }
        return idle;
    }

    /** The same if it did not matter how they are shared. */
    GpuLayout sharedInAnyWay() {
        return new GpuLayout(gpus.stream().map(Gpu::sharedInAnyWay).toList());
    }

    /** What is left when a pod holds these; GPUs that are not here are passed over. */
    public GpuLayout without(List<GpuHold> holds) {
        var left = new ArrayList<>(gpus);
        for (GpuHold hold : holds) {
            left.replaceAll(gpu -> gpu.id().equals(hold.gpu()) ? gpu.without(hold) : gpu);
        }
        return new GpuLayout(left);
    }

    /**
     * Where a pod would be placed: container after container, each on the fullest GPU that still
     * fits them, whole ones on GPUs that no pod holds. Empty if it does not fit.
     */
    public Optional<List<GpuHold>> place(List<GpuAsk> asks) {
        return place(asks, Strategy.BestFit);
    }

    /** The same, each container on the best GPU by this strategy. */
    public Optional<List<GpuHold>> place(List<GpuAsk> asks, Strategy strategy) {
        GpuLayout left = this;
        var placed = new ArrayList<GpuHold>();
        for (GpuAsk ask : asks) {
            List<GpuHold> chosen =
                    left.gpus.stream()
                            .filter(gpu -> gpu.fits(ask))
                            .sorted(Gpu.order(strategy))
                            .limit(ask.count())
                            .map(gpu -> gpu.hold(ask))
                            .toList();
            if (chosen.size() < ask.count()) {
                return Optional.empty();
            }
            placed.addAll(chosen);
            left = left.without(chosen);
        }
        return Optional.of(placed);
    }
}
