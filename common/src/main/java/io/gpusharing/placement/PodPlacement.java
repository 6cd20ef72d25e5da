package io.gpusharing.placement;

import static java.util.stream.Collectors.groupingBy;

import io.gpusharing.placement.Decision.Never;
import io.gpusharing.placement.Decision.Placed;
import io.gpusharing.placement.Decision.Wait;
import io.gpusharing.request.ContainerRequest.Kind;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Which GPUs a pod's containers run on: decided for all of them at once, when the first one starts,
 * so that no pod stops half-way for want of a GPU. All are put on one GPU where parts of one are
 * enough, else each on the best on which it fits, by {@link Strategy}.
 *
 * <p>An ordinary init container runs before the others and may use what they will: it is put on one
 * of their GPUs where that is enough.
 */
public final class PodPlacement {

    /**
     * What one container asks for: of the one that wants whole GPUs and a part of another, one of
     * the two, the whole ones first.
     *
     * @param on the UUIDs of the GPUs that a scheduler has chosen for it; empty if none has
     */
    public record ContainerAsk(String container, Kind kind, GpuAsk ask, Set<String> on) {

        /** The same, on this GPU and on no other. */
        ContainerAsk only(String gpu) {
            return new ContainerAsk(container, kind, ask, Set.of(gpu));
        }

        private ContainerAsk shared(Sharing sharing) {
            return new ContainerAsk(container, kind, ask.shared(sharing), on);
        }

        private GpuLayout of(GpuLayout layout) {
            return on.isEmpty() ? layout : PodPlacement.only(layout, on);
        }
    }

    private PodPlacement() {}

    /** The same, all of them on this GPU: that of the pods with which it is to share one. */
    public static List<ContainerAsk> only(List<ContainerAsk> asks, String gpu) {
        return asks.stream().map(ask -> ask.only(gpu)).toList();
    }

    /**
     * The same, each container on the GPUs that a scheduler has chosen for it.
     *
     * @param gpus UUIDs by container, whole ones first; a container that is not there may be on any
     */
    public static List<ContainerAsk> chosen(
            List<ContainerAsk> asks, Map<String, Set<String>> gpus) {
        return asks.stream()
                .map(ask ->
                        new ContainerAsk(
                                ask.container(),
                                ask.kind(),
                                ask.ask(),
                                own(ask, asks, gpus.getOrDefault(ask.container(), Set.of()))))
                .toList();
    }

    private static Set<String> own(ContainerAsk ask, List<ContainerAsk> asks, Set<String> gpus) {
        List<ContainerAsk> same =
                asks.stream().filter(it -> it.container().equals(ask.container())).toList();
        if (same.size() == 1) {
            return gpus;
        }
        // Where there are more or fewer than it asks for, nothing tells which is which.
        return gpus.size() != count(same)
                ? Set.of()
                : gpus.stream()
                        .skip(count(same.subList(0, same.indexOf(ask))))
                        .limit(ask.ask().count())
                        .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    private static int count(List<ContainerAsk> asks) {
        return asks.stream().mapToInt(ask -> ask.ask().count()).sum();
    }

    /** The same, all of them in this way. */
    public static List<ContainerAsk> shared(List<ContainerAsk> asks, Sharing sharing) {
        return sharing.equals(Sharing.TIME_SLICES)
                ? asks
                : asks.stream().map(ask -> ask.shared(sharing)).toList();
    }

    /** On which of these GPUs any of a pod's containers may be. */
    public static GpuLayout eligible(List<ContainerAsk> asks, GpuLayout layout) {
        var on = new HashSet<String>();
        for (ContainerAsk ask : asks) {
            if (ask.on().isEmpty()) {
                return layout;
            }
            on.addAll(ask.on());
        }
        return only(layout, on);
    }

    /** Of which of these GPUs any of a pod's containers may have a part beside who has one. */
    public static GpuLayout admitting(List<ContainerAsk> asks, GpuLayout layout) {
        // Mostly all of them; a pod that waits is looked at on thousands.
        for (Gpu gpu : layout.gpus()) {
            if (!isAdmitted(asks, gpu)) {
                return new GpuLayout(
                        layout.gpus().stream().filter(it -> isAdmitted(asks, it)).toList());
            }
        }
        return layout;
    }

    private static boolean isAdmitted(List<ContainerAsk> asks, Gpu gpu) {
        for (ContainerAsk ask : asks) {
            if (ask.ask().isAdmittedTo(gpu)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Decides.
     *
     * @param asks in the pod's order
     * @param free what is left of each GPU on which containers may start
     * @param empty these and those on which they may start by and by, as if nobody held anything
     */
    public static Decision place(List<ContainerAsk> asks, GpuLayout free, GpuLayout empty) {
        Optional<List<ContainerPlacement>> placed = placed(asks, free);
        if (placed.isPresent()) {
            return new Placed(placed.get());
        }
        // Whether all of them could be packed otherwise than by size is not tried.
        return asks.stream().collect(groupingBy(ContainerAsk::container)).values().stream()
                        .allMatch(own -> placed(own, empty).isPresent())
                ? new Wait("%s; %s".formatted(asked(asks), whyNot(asks, free)))
                : new Never("%s; the node has %s".formatted(asked(asks), shown(empty)));
    }

    private static String whyNot(List<ContainerAsk> asks, GpuLayout free) {
        return placed(asks, free.sharedInAnyWay()).isPresent()
                ? "those that have room are shared by pods that it may not share one with"
                : "free are " + shown(free);
    }

    /** The same, without a word about why not. */
    public static Optional<List<ContainerPlacement>> placed(
            List<ContainerAsk> asks, GpuLayout free) {
        return placed(asks, free, Strategy.BestFit);
    }

    /** The same by a strategy; by each a pod fits where it does by another. */
    public static Optional<List<ContainerPlacement>> placed(
            List<ContainerAsk> asks, GpuLayout free, Strategy strategy) {
        Optional<List<ContainerPlacement>> packed =
                onOneGpu(asks, free, strategy).or(() -> oneByOne(asks, free, Strategy.BestFit));
        return strategy == Strategy.BestFit || packed.isEmpty() || isOnOneGpu(packed.get())
                ? packed
                : oneByOne(asks, free, strategy).or(() -> packed);
    }

    /** Several containers of a pod belong together: what one writes another may read. */
    private static Optional<List<ContainerPlacement>> onOneGpu(
            List<ContainerAsk> asks, GpuLayout free, Strategy strategy) {
        if (asks.size() < 2
                || asks.stream().anyMatch(it -> it.ask().whole() || !it.on().isEmpty())) {
            return Optional.empty();
        }
        return free.gpus().stream()
                .sorted(strategy.order())
                .map(gpu -> oneByOne(asks, new GpuLayout(List.of(gpu)), strategy))
                .flatMap(Optional::stream)
                .findFirst();
    }

    private static boolean isOnOneGpu(List<ContainerPlacement> placed) {
        return placed.size() > 1 && held(placed).size() == 1;
    }

    private static Optional<List<ContainerPlacement>> oneByOne(
            List<ContainerAsk> asks, GpuLayout free, Strategy strategy) {
        var grants = new LinkedHashMap<String, ContainerPlacement>();
        GpuLayout left = free;
        GpuLayout besideSidecars = free;
        for (ContainerAsk ask : largestFirst(asks)) {
            Optional<List<GpuHold>> gpus = ask.of(left).place(List.of(ask.ask()), strategy);
            if (gpus.isEmpty()) {
                return Optional.empty();
            }
            grants.merge(ask.container(), placed(ask, gpus.get()), PodPlacement::both);
            left = left.without(gpus.get());
            besideSidecars = ask.kind() == Kind.NativeSidecar ? left : besideSidecars;
        }
        Set<String> own = new HashSet<>();
        grants.values().forEach(grant -> grant.gpus().forEach(hold -> own.add(hold.gpu())));
        for (ContainerAsk ask : asks) {
            if (ask.kind() != Kind.Init) {
                continue;
            }
            ContainerPlacement before = grants.get(ask.container());
            GpuLayout all = before == null ? besideSidecars : besideSidecars.without(before.gpus());
            Optional<List<GpuHold>> gpus =
                    only(ask.of(all), own)
                            .place(List.of(ask.ask()), strategy)
                            .or(() -> ask.of(all).place(List.of(ask.ask()), strategy));
            if (gpus.isEmpty()) {
                return Optional.empty();
            }
            grants.merge(ask.container(), placed(ask, gpus.get()), PodPlacement::both);
        }
        return Optional.of(List.copyOf(grants.values()));
    }

    private static ContainerPlacement placed(ContainerAsk ask, List<GpuHold> gpus) {
        return new ContainerPlacement(ask.container(), ask.kind(), gpus);
    }

    /** What a container was given by two asks, in their order. */
    private static ContainerPlacement both(ContainerPlacement one, ContainerPlacement other) {
        return new ContainerPlacement(
                one.container(),
                one.kind(),
                Stream.concat(one.gpus().stream(), other.gpus().stream()).toList());
    }

    /** Those that run together, sidecars before the others: small ones fit beside large ones. */
    private static List<ContainerAsk> largestFirst(List<ContainerAsk> asks) {
        return asks.stream()
                .filter(ask -> ask.kind() != Kind.Init)
                .sorted(
                        Comparator.comparing((ContainerAsk ask) -> ask.kind() != Kind.NativeSidecar)
                                .thenComparing(ask -> !ask.ask().whole())
                                .thenComparingLong(ask -> -ask.ask().cores())
                                .thenComparingLong(ask -> -ask.ask().memory()))
                .toList();
    }

    private static GpuLayout only(GpuLayout layout, Set<String> uuids) {
        return new GpuLayout(
                layout.gpus().stream().filter(gpu -> uuids.contains(gpu.id())).toList());
    }

    private static String asked(List<ContainerAsk> asks) {
        return "the pod wants "
                + asks.stream().map(PodPlacement::shown).collect(Collectors.joining(", "))
                + ", parts on single GPUs";
    }

    private static String shown(ContainerAsk ask) {
        GpuAsk gpu = ask.ask();
        if (gpu.whole()) {
            return "%d whole for %s".formatted(gpu.count(), ask.container());
        }
        String memory =
                gpu.memoryPercent() > 0
                        ? gpu.memoryPercent() + " percent of the memory"
                        : gpu.memory() + " MiB";
        String where = ask.on().isEmpty() ? "" : " on " + String.join(", ", ask.on());
        return "%d of 100 and %s for %s%s".formatted(gpu.cores(), memory, ask.container(), where);
    }

    private static String shown(GpuLayout layout) {
        return layout.gpus().isEmpty()
                ? "no healthy GPU"
                : layout.gpus().stream().map(PodPlacement::shown).collect(Collectors.joining(", "));
    }

    private static String shown(Gpu gpu) {
        return "%d and %d MiB of %s".formatted(gpu.cores(), gpu.memory(), gpu.id());
    }

    /**
     * What a pod holds of each GPU: of all containers that run together, or of an init container if
     * that is more. Init containers run one after the other, before the others.
     */
    public static List<GpuHold> held(List<ContainerPlacement> containers) {
        var held = new HashMap<String, GpuHold>();
        var sidecars = new HashMap<String, GpuHold>();
        for (ContainerPlacement container : containers) {
            if (container.kind() != Kind.Init) {
                add(held, container);
            }
            if (container.kind() == Kind.NativeSidecar) {
                add(sidecars, container);
            }
        }
        for (ContainerPlacement container : containers) {
            if (container.kind() == Kind.Init) {
                var step = new HashMap<>(sidecars);
                add(step, container);
                step.forEach((gpu, hold) -> held.merge(gpu, hold, PodPlacement::larger));
            }
        }
        return List.copyOf(held.values());
    }

    private static void add(Map<String, GpuHold> to, ContainerPlacement container) {
        for (GpuHold hold : container.gpus()) {
            to.merge(
                    hold.gpu(),
                    hold,
                    (one, other) ->
                            new GpuHold(
                                    one.gpu(),
                                    one.cores() + other.cores(),
                                    one.memory() + other.memory(),
                                    one.whole() || other.whole(),
                                    one.sharing()));
        }
    }

    private static GpuHold larger(GpuHold one, GpuHold other) {
        return new GpuHold(
                one.gpu(),
                Math.max(one.cores(), other.cores()),
                Math.max(one.memory(), other.memory()),
                one.whole() || other.whole(),
                // All containers of a pod share GPUs in the same way.
                one.sharing());
    }
}
