package io.gpusharing.scheduler.victims;

import io.gpusharing.placement.FreeCapacity;
import io.gpusharing.placement.Gpu;
import io.gpusharing.placement.GpuLayout;
import io.gpusharing.placement.PodAsk;
import io.gpusharing.placement.PodPlacement;
import io.gpusharing.sharing.Amounts;
import io.gpusharing.wire.ContainerPlacement;
import io.gpusharing.wire.GpuHold;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A node, and whether a pod fits there without certain gangs: by sums, as kube-scheduler counts
 * them, and by physical GPUs where it is known who holds which. Thousands are asked for each pod
 * that waits: sums come first, of those resources alone that it asks for. For one thread.
 */
public final class Room {

    /** In place of a gang: whoever has this stays. */
    public static final int STAYS = -1;

    /**
     * What somebody has of the node.
     *
     * @param gang the number of the gang with which it goes, or {@link #STAYS}
     * @param requests sums
     * @param gpus of which GPUs it has what; null if that is not known. Asked for where sums do
     */
    public record Part(int gang, Amounts requests, Supplier<@Nullable List<GpuHold>> gpus) {

        private boolean stays(BitSet gone) {
            return gang == STAYS || !gone.get(gang);
        }
    }

    /**
     * Who has what of GPUs.
     *
     * @param byGpu by the GPU's id
     * @param somewhere those of whom nobody knows on which they are
     */
    private record Holds(Map<String, List<Piece>> byGpu, List<Part> somewhere) {}

    private record Piece(Part part, GpuHold hold) {}

    /**
     * What is left of a resource that the pod asks for.
     *
     * @param left beside the pod and those who stay
     * @param byGang what gangs have of it
     */
    private record Sum(BigDecimal left, Map<Integer, BigDecimal> byGang, BigDecimal nominated) {

        boolean suffices(BitSet gone) {
            BigDecimal rest = gone.isEmpty() ? left : left.subtract(nominated);
            if (rest.signum() < 0) {
                return false;
            }
            for (Map.Entry<Integer, BigDecimal> gang : byGang.entrySet()) {
                rest = gone.get(gang.getKey()) ? rest : rest.subtract(gang.getValue());
            }
            return rest.signum() >= 0;
        }
    }

    private final String node;
    private final PodAsk ask;
    private final FreeCapacity empty;
    private final List<Part> parts;
    private final Amounts nominated;
    private final List<PodAsk> promised;
    private final BitSet gangs = new BitSet();
    private @Nullable Holds holds;
    private @Nullable List<Sum> sums;

    /**
     * @param ask what the pod wants
     * @param empty what the node has while nobody is there
     * @param parts what everybody has who is there
     * @param nominated sums of those for whom room is being made. They count once somebody goes:
     *     until then they may take it elsewhere, or leave enough
     * @param promised what those ask for who are counted among the parts, and whose GPUs are still
     *     to be chosen
     */
    public Room(
            String node,
            PodAsk ask,
            FreeCapacity empty,
            List<Part> parts,
            Amounts nominated,
            List<PodAsk> promised) {
        this.node = node;
        this.ask = ask;
        this.empty = empty;
        this.parts = parts;
        this.nominated = nominated;
        this.promised = promised;
        parts.stream().filter(part -> part.gang() != STAYS).forEach(part -> gangs.set(part.gang()));
    }

    public String node() {
        return node;
    }

    /** The gangs that stand on it. */
    BitSet gangs() {
        return gangs;
    }

    /** The gangs with a part of each GPU. */
    List<BitSet> gpus() {
        return empty.gpus() == null
                ? List.of()
                : empty.gpus().gpus().stream()
                        .map(gpu -> {
                            var on = new BitSet();
                            pieces(gpu).stream()
                                    .map(piece -> piece.part().gang())
                                    .filter(gang -> gang != STAYS)
                                    .forEach(on::set);
                            return on;
                        })
                        .toList();
    }

    private List<Piece> pieces(Gpu gpu) {
        return holds().byGpu().getOrDefault(gpu.id(), List.of());
    }

    private Holds holds() {
        if (holds == null) {
            holds = new Holds(new HashMap<>(), new ArrayList<>());
            for (Part part : parts) {
                List<GpuHold> own = part.gpus().get();
                if (own == null) {
                    holds.somewhere().add(part);
                } else {
                    for (GpuHold hold : own) {
                        holds.byGpu()
                                .computeIfAbsent(hold.gpu(), gpu -> new ArrayList<>())
                                .add(new Piece(part, hold));
                    }
                }
            }
        }
        return holds;
    }

    /**
     * Whether the pod fits wherever it does without fewer gangs. Several containers may be packed
     * worse where more is free, and GPUs count once it is known who holds which.
     */
    boolean isMonotone() {
        return empty.gpus() == null
                || (empty.isMonotone(ask) && promised.isEmpty() && holds().somewhere().isEmpty());
    }

    /** Whether the pod fits without these gangs. */
    public boolean fits(BitSet gone) {
        return fitsIntoSums(gone) && fitsOnGpus(gone);
    }

    /** Whether sums do without these gangs. */
    public boolean fitsIntoSums(BitSet gone) {
        return sums().stream().allMatch(sum -> sum.suffices(gone));
    }

    private List<Sum> sums() {
        if (sums == null) {
            sums =
                    ask.requests().byResource().entrySet().stream()
                            .filter(wanted -> wanted.getValue().signum() > 0)
                            .map(wanted -> sum(wanted.getKey(), wanted.getValue()))
                            .toList();
        }
        return sums;
    }

    private Sum sum(String resource, BigDecimal wanted) {
        BigDecimal left = empty.amounts().of(resource).subtract(wanted);
        var byGang = new TreeMap<Integer, BigDecimal>();
        for (Part part : parts) {
            BigDecimal amount = part.requests().of(resource);
            if (part.gang() == STAYS) {
                left = left.subtract(amount);
            } else if (amount.signum() != 0) {
                byGang.merge(part.gang(), amount, BigDecimal::add);
            }
        }
        return new Sum(left, byGang, nominated.of(resource));
    }

    /** Whether GPUs do without these gangs, as far as it is known who holds them. */
    boolean fitsOnGpus(BitSet gone) {
        return new FreeCapacity(Amounts.NONE, free(gone).orElse(null), empty.shared())
                .fitsOnGpus(ask);
    }

    /** Where our device plugin would put the pod's containers; empty if another one does. */
    public Optional<List<ContainerPlacement>> place(BitSet gone) {
        return empty.shared()
                ? free(gone).flatMap(free -> PodPlacement.placed(ask.containers(), free))
                : Optional.empty();
    }

    /** What is free of each GPU without these gangs; empty if it is not known who holds them. */
    private Optional<GpuLayout> free(BitSet gone) {
        if (empty.gpus() == null
                || holds().somewhere().stream().anyMatch(part -> part.stays(gone))) {
            return Optional.empty();
        }
        var left = new ArrayList<Gpu>();
        for (Gpu gpu : empty.gpus().gpus()) {
            Gpu free = gpu;
            for (Piece piece : pieces(gpu)) {
                free = piece.part().stays(gone) ? free.without(piece.hold()) : free;
            }
            left.add(free);
        }
        var free = new FreeCapacity(Amounts.NONE, new GpuLayout(left), empty.shared());
        for (PodAsk other : promised) {
            free = free.after(other);
        }
        return Optional.ofNullable(free.gpus());
    }
}
