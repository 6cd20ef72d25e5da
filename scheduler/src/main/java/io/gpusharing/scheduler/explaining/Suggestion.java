package io.gpusharing.scheduler.explaining;

import io.gpusharing.placement.Gpu;
import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.grammar.AliyunGrammar;
import io.gpusharing.request.grammar.VcudaGrammar;
import io.gpusharing.sharing.Amounts;
import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.sharing.GpuAsk;
import io.gpusharing.sharing.ProviderAsk;
import io.gpusharing.wire.Explanation.Instead;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The most of what a pod asks for that it could have at once. Known for pods of which one container
 * alone asks for GPUs, in the words of vcuda and Aliyun: with several containers there are many
 * ways to ask for less.
 */
final class Suggestion {

    private static final int ALL = 100;

    private Suggestion() {}

    /**
     * Less that would fit.
     *
     * @param ask the same in the unit of GPUs
     * @param kept how much of what it asks for it would keep, from 0 to 1
     */
    private record Less(Picture.State node, GpuAsk ask, double kept) {}

    /**
     * What to write instead; empty if nothing fits, or more than one GPU or container is meant.
     *
     * @param candidates nodes that fit otherwise
     */
    static Optional<Instead> of(Subject subject, Collection<Judgement> candidates) {
        if (subject.asks().size() != 1) {
            return Optional.empty();
        }
        ContainerAsk own = subject.asks().getFirst();
        var less = new ArrayList<Less>();
        for (Judgement node : candidates) {
            if (own.ask().whole()) {
                int idle = node.free().idle();
                if (idle > 0 && idle < own.ask().count()) {
                    less.add(
                            new Less(
                                    node.node(),
                                    withCount(own, idle).ask(),
                                    (double) idle / own.ask().count()));
                }
            } else {
                // Memory alone is of no use where others have all processors.
                node.free().gpus().stream()
                        .filter(gpu -> gpu.cores() > 0 && gpu.admits(own.ask()))
                        .forEach(gpu -> less.add(part(node, own.ask(), gpu)));
            }
        }
        less.sort(
                Comparator.comparingDouble(Less::kept)
                        .reversed()
                        .thenComparing(it -> it.node().name()));
        return subject.request().containers().stream()
                .filter(container -> container.name().equals(own.container()))
                .findFirst()
                .flatMap(container ->
                        less.stream()
                                .flatMap(it ->
                                        instead(container, it)
                                                .filter(instead -> isFree(subject, it, instead))
                                                .stream())
                                .findFirst());
    }

    /** By the node's sums, too: they count what is asked for on a GPU that failed since. */
    private static boolean isFree(Subject subject, Less less, Instead instead) {
        var wanted = new HashMap<String, BigDecimal>();
        instead.resources().forEach((name, amount) -> wanted.put(name, BigDecimal.valueOf(amount)));
        return new Amounts(wanted).fitInto(less.node().freeFor(subject.waiter().pod().uid()));
    }

    private static Less part(Judgement node, GpuAsk ask, Gpu gpu) {
        long cores = Math.min(ask.cores(), gpu.cores());
        long memory = Math.min(ask.memory(), gpu.memory());
        double kept =
                Math.min(
                        ask.cores() == 0 ? 1 : (double) cores / ask.cores(),
                        ask.memory() == 0 ? 1 : (double) memory / ask.memory());
        return new Less(node.node(), new GpuAsk(1, cores, memory, false), kept);
    }

    /** In the resources that the container names; empty if what is left is no legal request. */
    private static Optional<Instead> instead(ContainerRequest container, Less less) {
        var resources = new TreeMap<String, Long>();
        GpuAsk own = less.ask();
        if (container.amount(VcudaGrammar.CORE).isPresent()) {
            resources.put(VcudaGrammar.CORE, own.whole() ? (long) own.count() * ALL : own.cores());
            if (!own.whole()) {
                resources.put(VcudaGrammar.MEMORY, own.memory() / VcudaGrammar.MEBIBYTES_PER_BLOCK);
            }
        } else if (container.amount(AliyunGrammar.MEMORY).isPresent()) {
            resources.put(
                    AliyunGrammar.MEMORY, own.memory() / ProviderAsk.MEBIBYTES_PER_ALIYUN_UNIT);
        } else {
            return Optional.empty();
        }
        return resources.values().stream().allMatch(amount -> amount > 0)
                ? Optional.of(new Instead(less.node().name(), container.name(), resources))
                : Optional.empty();
    }

    /** The same of another number of GPUs. */
    static ContainerAsk withCount(ContainerAsk ask, int count) {
        GpuAsk gpus = ask.ask();
        return new ContainerAsk(
                ask.container(),
                ask.kind(),
                new GpuAsk(
                        count,
                        gpus.cores(),
                        gpus.memory(),
                        gpus.memoryPercent(),
                        gpus.whole(),
                        gpus.sharing()),
                ask.on());
    }
}
