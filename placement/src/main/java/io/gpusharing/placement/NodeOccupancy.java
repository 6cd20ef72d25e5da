package io.gpusharing.placement;

import io.gpusharing.wire.GpuHold;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/**
 * Who holds the GPUs of one node at a moment, and what is free of them. Pure; made anew when
 * something changes.
 */
public final class NodeOccupancy {

    private final SharedNode node;
    private final Map<String, List<GpuHold>> holds;
    private final Predicate<String> isHere;
    private final Map<String, Instant> leaving;
    private final GpuLayout free;

    /**
     * @param holds what is held, by the UID of a pod, also by those that the device plugin alone
     *     still knows
     * @param isHere whether a pod is bound to the node, or about to be
     * @param leaving which of them are being deleted, and by when they are to have ended
     */
    public NodeOccupancy(
            SharedNode node,
            Map<String, List<GpuHold>> holds,
            Predicate<String> isHere,
            Map<String, Instant> leaving) {
        this.node = node;
        this.holds = holds;
        this.isHere = isHere;
        this.leaving = leaving;
        this.free = without(holds.values());
    }

    /** Who holds what, by UID. */
    public Map<String, List<GpuHold>> holds() {
        return holds;
    }

    /** What is left of each GPU on which containers may start. */
    public GpuLayout free() {
        return free;
    }

    private GpuLayout without(Collection<List<GpuHold>> held) {
        var gpus = new LinkedHashMap<String, Gpu>();
        node.gpus().forEach(gpu -> gpus.put(gpu.id(), gpu));
        for (List<GpuHold> one : held) {
            for (GpuHold hold : one) {
                gpus.computeIfPresent(hold.gpu(), (uuid, gpu) -> gpu.without(hold));
            }
        }
        return new GpuLayout(List.copyOf(gpus.values()));
    }

    /**
     * The same where some of it is kept for others: what is free now, as far as it will still be
     * free once they have come and those have gone that are being deleted.
     */
    public GpuLayout free(List<KeptRoom> kept) {
        if (kept.isEmpty()) {
            return free;
        }
        Map<String, List<GpuHold>> staying = staying(kept);
        GpuLayout then = without(staying.values());
        GpuLayout atLast = without(atLast(staying, kept).values());
        for (KeptRoom room : kept) {
            // Whoever has overtaken it has it.
            if (Leftover.fits(room.held(), atLast)) {
                then = then.without(room.held());
                atLast = atLast.without(room.held());
            }
        }
        List<Gpu> left = then.gpus();
        return new GpuLayout(
                IntStream.range(0, left.size())
                        .mapToObj(gpu -> Leftover.less(free.gpus().get(gpu), left.get(gpu)))
                        .toList());
    }

    /**
     * Of these who is there when everybody has gone who is to: those rooms were made by ending
     * them, though it may not be seen yet, and those whom the device plugin alone still knows.
     */
    private Map<String, List<GpuHold>> atLast(
            Map<String, List<GpuHold>> staying, List<KeptRoom> kept) {
        var atLast = new HashMap<>(staying);
        atLast.keySet().removeIf(uid -> !isHere.test(uid));
        kept.forEach(room -> atLast.keySet().removeAll(room.victims()));
        return atLast;
    }

    /** Who will not have gone by the time at which the first of these rooms is given up. */
    private Map<String, List<GpuHold>> staying(List<KeptRoom> kept) {
        Instant by = kept.stream().map(KeptRoom::until).min(Instant::compareTo).orElseThrow();
        var staying = new HashMap<>(holds);
        leaving.forEach((uid, end) -> {
            if (end.isBefore(by)) {
                staying.remove(uid);
            }
        });
        return staying;
    }

    /**
     * Whether a room is not free yet, but will be once those have gone that are to go, and once the
     * device plugin has taken back what it gave to those that are gone.
     */
    public boolean willHave(KeptRoom room) {
        List<KeptRoom> alone = List.of(room);
        return Leftover.fits(room.held(), without(atLast(staying(alone), alone).values()))
                && !Leftover.fits(room.held(), free);
    }
}
