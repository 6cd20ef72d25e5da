package io.gpusharing.scheduler.victims;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Chooses who must go so that a pod fits: no more gangs than are needed, on the node where that
 * costs least.
 *
 * <p>The search begins with the shortest part of the order without which the pod fits somewhere,
 * or, where the order is not strict, with whoever is around each GPU. Of these it spares whoever is
 * not needed.
 *
 * @param <C> what a choice costs
 */
public final class VictimSearch<C extends Comparable<? super C>> {

    /** Of more gangs not every part is tried. */
    private static final int MOST_TRIED = 8;

    private final Order<C> order;

    public VictimSearch(Order<C> order) {
        this.order = order;
    }

    /**
     * Chooses.
     *
     * @param horizon the nodes that come into question
     * @return empty if the pod fits nowhere, whoever goes
     */
    public Optional<Choice<C>> search(List<Room> horizon) {
        var nobody = new BitSet();
        List<Room> free = horizon.stream().filter(room -> room.fits(nobody)).toList();
        if (!free.isEmpty()) {
            return best(free.stream().map(room -> choice(room, nobody)));
        }
        List<Room> rooms =
                horizon.stream()
                        .filter(room -> room.fitsIntoSums(room.gangs()))
                        .filter(room -> room.fitsOnGpus(room.gangs()) || !room.isMonotone())
                        .toList();
        if (order.isStrict()) {
            return best(byPrefix(rooms)).map(this::bestPart);
        }
        // Where sums do, those around some GPU are as good, and sooner found.
        List<Room> others =
                rooms.stream()
                        .filter(room -> !room.fitsIntoSums(nobody) || !room.fits(room.gangs()))
                        .toList();
        return best(Stream.concat(rooms.stream().flatMap(this::aroundGpus), byPrefix(others)))
                .map(this::bestPart);
    }

    private Optional<Choice<C>> best(Stream<Choice<C>> choices) {
        return choices.min(
                Comparator.comparing(Choice<C>::cost)
                        .thenComparing(choice -> choice.room().node()));
    }

    private Choice<C> choice(Room room, BitSet going) {
        return new Choice<>(room, going, order.cost(going));
    }

    /** One gang after the other, until the pod fits on a node where the last one stands. */
    private Stream<Choice<C>> byPrefix(List<Room> rooms) {
        Map<Integer, List<Room>> standing = new HashMap<>();
        var all = new BitSet();
        for (Room room : rooms) {
            all.or(room.gangs());
            for (int gang : room.gangs().stream().toArray()) {
                standing.computeIfAbsent(gang, it -> new ArrayList<>()).add(room);
            }
        }
        var going = new BitSet();
        for (int gang : order.firstToGo(all)) {
            going.set(gang);
            List<Room> fitting = standing.getOrDefault(gang, List.of());
            fitting = fitting.stream().filter(room -> room.fits(going)).toList();
            if (!fitting.isEmpty()) {
                return fitting.stream().map(room -> onlyNeeded(room, going));
            }
        }
        return Stream.empty();
    }

    private Stream<Choice<C>> aroundGpus(Room room) {
        // Where GPUs are free enough the pod wants for something else.
        List<BitSet> gpus = room.gpus();
        return room.fitsOnGpus(new BitSet()) || !room.fits(room.gangs())
                ? Stream.empty()
                : gpus.stream().map(gpu -> onlyNeeded(room, around(room, gpu, gpus)));
    }

    /** Who is on this GPU, and on those that cost least beside it, until the pod fits on GPUs. */
    private BitSet around(Room room, BitSet gpu, List<BitSet> gpus) {
        List<BitSet> others = new ArrayList<>(gpus);
        others.remove(gpu);
        BitSet going = gpu;
        while (!room.fitsOnGpus(going)) {
            BitSet soFar = going;
            BitSet next =
                    others.stream()
                            .min(Comparator.comparing(other -> order.cost(with(soFar, other))))
                            .orElseThrow();
            others.remove(next);
            going = with(soFar, next);
        }
        return going;
    }

    private static BitSet with(BitSet some, BitSet others) {
        var all = (BitSet) some.clone();
        all.or(others);
        return all;
    }

    /**
     * Spares whoever is not needed on the node. Where sums are short of what the chosen ones free,
     * others go, too, and these are spared first.
     */
    private Choice<C> onlyNeeded(Room room, BitSet chosen) {
        var going = (BitSet) chosen.clone();
        going.and(room.gangs());
        if (!room.fits(going)) {
            going.or(room.gangs());
        }
        List<Integer> sparedFirst =
                order.firstToGo(going).reversed().stream()
                        .sorted(Comparator.comparing(chosen::get))
                        .toList();
        int before;
        do {
            before = going.cardinality();
            for (int gang : sparedFirst) {
                if (going.get(gang)) {
                    going.clear(gang);
                    going.set(gang, !room.fits(going));
                }
            }
            // Where containers were packed otherwise meanwhile, somebody may not be in the way now.
        } while (!room.isMonotone() && going.cardinality() < before);
        return choice(room, going);
    }

    /** Where more is free several containers may be packed worse, so that a part may do. */
    private Choice<C> bestPart(Choice<C> whole) {
        Room room = whole.room();
        int[] gangs = whole.gangs().stream().toArray();
        if (room.isMonotone() || gangs.length > MOST_TRIED) {
            return whole;
        }
        Stream<BitSet> parts =
                IntStream.range(1, 1 << gangs.length).mapToObj(mask -> part(gangs, mask));
        return best(parts.filter(room::fits).map(part -> choice(room, part))).orElseThrow();
    }

    private static BitSet part(int[] gangs, int mask) {
        var part = new BitSet();
        IntStream.range(0, gangs.length)
                .filter(i -> (mask >> i & 1) == 1)
                .forEach(i -> part.set(gangs[i]));
        return part;
    }
}
