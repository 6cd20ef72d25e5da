package io.gpusharing.placement;

import io.gpusharing.sharing.ContainerAsk;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Set;

/**
 * What there is instead of what a pod asks for, on the nodes that fit otherwise.
 *
 * @param reason of those nodes where there is most hope
 * @param nodes that share their GPUs
 * @param gpus of these nodes on which containers may start
 * @param unhealthy the others
 * @param otherwise of the usable ones those of which it may have nothing, as they are shared in
 *     another way
 * @param idlest the node with the most GPUs of which nobody has anything; empty if there is none
 * @param idle how many it has
 * @param freest the node with the GPU of which most is free; empty if all are in full use
 * @param cores hundredths of processors that are free of that GPU
 * @param memory what is free of its memory, in MiB
 */
public record Shortage(
        Reason reason,
        int nodes,
        int gpus,
        int unhealthy,
        int otherwise,
        String idlest,
        int idle,
        String freest,
        long cores,
        long memory) {

    /**
     * A node that shares its GPUs.
     *
     * @param free what is left of each GPU on which containers may start, and of which a pod may
     *     have something
     * @param unhealthy on how many others none may start
     * @param otherwise how many others are shared in another way
     */
    public record Node(String name, GpuLayout free, int unhealthy, int otherwise) {

        /**
         * One of which only the GPUs count where a pod may be.
         *
         * @param free what is left of each GPU on which containers may start
         * @param all the node's GPUs, healthy or not
         */
        public static Node of(String name, List<ContainerAsk> pod, GpuLayout free, GpuLayout all) {
            GpuLayout eligible = PodPlacement.eligible(pod, free);
            int unhealthy = PodPlacement.eligible(pod, all).gpus().size() - eligible.gpus().size();
            GpuLayout admitting = PodPlacement.admitting(pod, eligible);
            return new Node(
                    name, admitting, unhealthy, eligible.gpus().size() - admitting.gpus().size());
        }
    }

    /**
     * Sums it up.
     *
     * @param reasons why it does not fit on the nodes that fit otherwise
     * @param nodes those of them that share their GPUs
     */
    public static Shortage of(Set<Reason> reasons, Collection<Node> nodes) {
        int gpus = 0;
        int unhealthy = 0;
        int otherwise = 0;
        String idlest = "";
        int idle = 0;
        String freest = "";
        Gpu most = new Gpu("", 0, 0);
        for (Node node : nodes) {
            gpus += node.free().gpus().size() + node.otherwise();
            otherwise += node.otherwise();
            unhealthy += node.unhealthy();
            int own = node.free().idle();
            // Of equal ones always the same, whatever order they were asked about in.
            if (own > idle || (idle > 0 && own == idle && node.name().compareTo(idlest) < 0)) {
                idle = own;
                idlest = node.name();
            }
            Gpu best = node.free().freest();
            int more = Double.compare(Leftover.part(best), Leftover.part(most));
            if (more > 0 || (more == 0 && !freest.isEmpty() && node.name().compareTo(freest) < 0)) {
                most = best;
                freest = node.name();
            }
        }
        return new Shortage(
                reasons.stream().min(Comparator.naturalOrder()).orElse(Reason.NOT_SHARED),
                nodes.size(),
                gpus,
                unhealthy,
                otherwise,
                idlest,
                idle,
                freest,
                most.cores(),
                most.memory());
    }

    /** In words, for a condition of the pod: with numbers, as nobody groups it by its text. */
    public String text(List<ContainerAsk> asks) {
        if (reason != Reason.NO_ROOM && reason != Reason.NO_ROOM_BESIDE) {
            return reason.text(asks);
        }
        var text = new StringBuilder(reason.text(asks));
        text.append(": of ").append(count(gpus, "GPU")).append(" on ");
        text.append(count(nodes, "node")).append(" that fit otherwise, ");
        boolean wholes = asks.stream().anyMatch(ask -> ask.ask().whole());
        boolean parts = asks.stream().anyMatch(ask -> !ask.ask().whole());
        if (wholes) {
            text.append(
                    idlest.isEmpty()
                            ? "none is idle"
                            : "most are idle on %s, %d".formatted(idlest, idle));
        }
        if (wholes && parts) {
            text.append("; ");
        }
        if (parts) {
            text.append(
                    freest.isEmpty()
                            ? otherwise == 0
                                    ? "all are in full use"
                                    : "none has anything free for it"
                            : "most is free of one on %s, %d of 100 and %d MiB"
                                    .formatted(freest, cores, memory));
        }
        if (otherwise > 0) {
            text.append("; ").append(otherwise).append(" of them ");
            text.append(otherwise == 1 ? "is" : "are");
            text.append(" shared by pods that it may not share one with");
        }
        if (unhealthy > 0) {
            text.append("; ").append(unhealthy).append(" more ");
            text.append(unhealthy == 1 ? "is unhealthy" : "are unhealthy");
        }
        return text.toString();
    }

    private static String count(int number, String what) {
        return number + " " + what + (number == 1 ? "" : "s");
    }
}
