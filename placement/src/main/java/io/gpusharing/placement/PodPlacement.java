package io.gpusharing.placement;

import static java.util.stream.Collectors.groupingBy;

import io.gpusharing.placement.Decision.Never;
import io.gpusharing.placement.Decision.Placed;
import io.gpusharing.placement.Decision.Wait;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.sharing.Strategy;
import io.gpusharing.wire.ContainerPlacement;
import io.gpusharing.wire.GpuHold;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
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

    private PodPlacement() {}

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
            if (gpu.admits(ask.ask())) {
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
                .sorted(Gpu.order(strategy))
                .map(gpu -> oneByOne(asks, new GpuLayout(List.of(gpu)), strategy))
                .flatMap(Optional::stream)
                .findFirst();
    }

    private static boolean isOnOneGpu(List<ContainerPlacement> placed) {
        return placed.size() > 1 && ContainerPlacement.held(placed).size() == 1;
    }

    private static Optional<List<ContainerPlacement>> oneByOne(
            List<ContainerAsk> asks, GpuLayout free, Strategy strategy) {
        var grants = new LinkedHashMap<String, ContainerPlacement>();
        GpuLayout left = free;
        GpuLayout besideSidecars = free;
        for (ContainerAsk ask : largestFirst(asks)) {
            Optional<List<GpuHold>> gpus = own(ask, left).place(List.of(ask.ask()), strategy);
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
                    only(own(ask, all), own)
                            .place(List.of(ask.ask()), strategy)
                            .or(() -> own(ask, all).place(List.of(ask.ask()), strategy));
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

    /** Those on which a container may be. */
    private static GpuLayout own(ContainerAsk ask, GpuLayout layout) {
        return ask.on().isEmpty() ? layout : only(layout, ask.on());
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
}
