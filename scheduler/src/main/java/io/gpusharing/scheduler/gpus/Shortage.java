package io.gpusharing.scheduler.gpus;

import io.gpusharing.placement.Gpu;
import io.gpusharing.placement.PodPlacement.ContainerAsk;
import io.gpusharing.scheduler.gpus.Filtered.Nowhere;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * What there is instead of what a pod asks for, on the nodes that fit otherwise.
 *
 * @param reason of those nodes where there is most hope
 * @param nodes that share their GPUs
 * @param gpus of these nodes on which containers may start
 * @param unhealthy the others
 * @param idlest the node with the most GPUs of which nobody has anything; empty if there is none
 * @param idle how many it has
 * @param freest the node with the GPU of which most is free; empty if all are in full use
 * @param cores hundredths of processors that are free of that GPU
 * @param memory what is free of its memory, in MiB
 */
record Shortage(
        Reason reason,
        int nodes,
        int gpus,
        int unhealthy,
        String idlest,
        int idle,
        String freest,
        long cores,
        long memory) {

    /** Those with most hope first. */
    private static final List<Reason> BY_HOPE =
            List.of(Reason.NO_ROOM, Reason.KEPT, Reason.TOO_LARGE, Reason.UNHEALTHY);

    static Shortage of(
            Nowhere nowhere, Collection<String> candidates, Map<String, NodeGpus> nodes) {
        int shared = 0;
        int gpus = 0;
        int unhealthy = 0;
        String idlest = "";
        int idle = 0;
        String freest = "";
        Gpu most = new Gpu("", 0, 0);
        for (String name : candidates) {
            NodeGpus node = nodes.get(name);
            if (node == null || !node.isShared()) {
                continue;
            }
            shared++;
            gpus += node.usable();
            unhealthy += node.unhealthy();
            // Of equal ones always the same, whatever order they were asked about in.
            if (node.idle() > idle
                    || (idle > 0 && node.idle() == idle && name.compareTo(idlest) < 0)) {
                idle = node.idle();
                idlest = name;
            }
            Gpu own = node.freest();
            int more = Double.compare(Leftover.part(own), Leftover.part(most));
            if (more > 0 || (more == 0 && !freest.isEmpty() && name.compareTo(freest) < 0)) {
                most = own;
                freest = name;
            }
        }
        return new Shortage(
                reason(nowhere),
                shared,
                gpus,
                unhealthy,
                idlest,
                idle,
                freest,
                most.cores(),
                most.memory());
    }

    private static Reason reason(Nowhere nowhere) {
        return BY_HOPE.stream()
                .filter(reason ->
                        Stream.of(nowhere.failed(), nowhere.unresolvable())
                                .anyMatch(nodes -> nodes.containsValue(reason)))
                .findFirst()
                .orElse(Reason.NOT_SHARED);
    }

    /** In words, for a condition of the pod: with numbers, as nobody groups it by its text. */
    String text(List<ContainerAsk> asks) {
        if (reason != Reason.NO_ROOM) {
            return reason.text(asks);
        }
        var text = new StringBuilder(reason.text(asks));
        text.append(": of ").append(count(gpus, "GPU")).append(" on ");
        text.append(count(nodes, "node")).append(" that fit otherwise, ");
        if (asks.stream().allMatch(ask -> ask.ask().whole())) {
            text.append(
                    idlest.isEmpty()
                            ? "none is idle"
                            : "most are idle on %s, %d".formatted(idlest, idle));
        } else {
            text.append(
                    freest.isEmpty()
                            ? "all are in full use"
                            : "most is free of one on %s, %d of 100 and %d MiB"
                                    .formatted(freest, cores, memory));
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
