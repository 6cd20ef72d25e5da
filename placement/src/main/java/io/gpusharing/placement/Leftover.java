package io.gpusharing.placement;

import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.sharing.Strategy;
import io.gpusharing.wire.ContainerPlacement;
import io.gpusharing.wire.GpuHold;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** What is left of GPUs. By what a pod would leave, nodes are compared. */
public final class Leftover {

    /** A whole GPU's memory, in the unit of its processors. */
    private static final long ALL = 100;

    /** More than can be left of all GPUs of a node. */
    private static final long APART = 1_000_000;

    private Leftover() {}

    /**
     * How much would be left of the GPUs that a pod would get, in hundredths of processors and
     * hundredths of memory; and with whole GPUs, how many are idle beside them. Empty if it does
     * not fit.
     *
     * @param layout what is free of each GPU
     */
    public static OptionalLong of(List<ContainerAsk> asks, GpuLayout layout, Strategy strategy) {
        // Nearly every pod is one container with a part of one GPU, and is looked at on all nodes.
        if (asks.size() == 1 && !asks.getFirst().ask().whole()) {
            return left(PodPlacement.eligible(asks, layout), asks.getFirst().ask(), strategy);
        }
        return PodPlacement.placed(asks, layout, strategy)
                .map(containers ->
                        OptionalLong.of(
                                leftBeside(
                                        layout,
                                        ContainerPlacement.held(containers),
                                        asks.stream().noneMatch(ask -> ask.ask().whole()),
                                        strategy)))
                .orElseGet(OptionalLong::empty);
    }

    private static OptionalLong left(GpuLayout layout, GpuAsk ask, Strategy strategy) {
        Gpu best = null;
        for (Gpu gpu : layout.gpus()) {
            if (gpu.fits(ask) && (best == null || Gpu.order(strategy).compare(gpu, best) < 0)) {
                best = gpu;
            }
        }
        return best == null
                ? OptionalLong.empty()
                : OptionalLong.of(left(best.without(best.hold(ask))));
    }

    private static long leftBeside(
            GpuLayout layout, List<GpuHold> held, boolean parts, Strategy strategy) {
        // Containers of a pod belong on one GPU, wherever that leaves more.
        long apart = parts ? (held.size() - 1L) * APART : 0;
        long left = strategy == Strategy.BestFit ? apart : -apart;
        for (Gpu gpu : layout.gpus()) {
            Optional<GpuHold> own =
                    held.stream().filter(hold -> hold.gpu().equals(gpu.id())).findFirst();
            if (own.isPresent()) {
                left += left(gpu.without(own.get()));
            } else if (gpu.untouched()) {
                // Whole GPUs leave nothing of their own.
                left++;
            }
        }
        return left;
    }

    private static long left(Gpu gpu) {
        return gpu.cores() + (gpu.size() == 0 ? 0 : gpu.memory() * ALL / gpu.size());
    }

    /** What is free of a GPU, from 0 to 1: of its processors or its memory, whichever is less. */
    public static double part(Gpu gpu) {
        double cores = (double) gpu.cores() / ALL;
        double memory = gpu.size() == 0 ? cores : (double) gpu.memory() / gpu.size();
        return Math.clamp(Math.min(cores, memory), 0, 1);
    }

    /** Whether all of these can be had. */
    public static boolean fits(List<GpuHold> holds, GpuLayout layout) {
        return holds.stream()
                .allMatch(hold ->
                        layout.gpus().stream()
                                .filter(gpu -> gpu.id().equals(hold.gpu()))
                                .anyMatch(gpu ->
                                        hold.whole()
                                                ? gpu.untouched()
                                                : gpu.cores() >= hold.cores()
                                                        && gpu.memory() >= hold.memory()
                                                        && gpu.admits(hold.sharing())));
    }

    /** What is free of the same GPU both times. */
    static Gpu less(Gpu one, Gpu other) {
        return new Gpu(
                one.id(),
                Math.min(one.cores(), other.cores()),
                Math.min(one.memory(), other.memory()),
                one.untouched() && other.untouched(),
                one.size(),
                one.untouched()
                        ? other.sharing()
                        : other.untouched() ? one.sharing() : one.sharing().with(other.sharing()),
                one.servesMps());
    }
}
