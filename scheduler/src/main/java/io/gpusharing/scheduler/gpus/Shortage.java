package io.gpusharing.scheduler.gpus;

import io.gpusharing.placement.PodPlacement.ContainerAsk;
import java.util.List;

/**
 * What there is instead of what a pod asks for.
 *
 * @param nodes that share their GPUs
 * @param gpus of these nodes on which containers may start
 * @param unhealthy the others
 * @param node where most is free; empty if there is none
 * @param idle GPUs of that node of which nobody has anything
 * @param cores hundredths of processors that are free of that node's freest GPU
 * @param memory what is free of its memory, in MiB
 * @param kept whether it would have room but for pods for which others had to go
 */
public record Shortage(
        int nodes,
        int gpus,
        int unhealthy,
        String node,
        long idle,
        long cores,
        long memory,
        boolean kept) {

    /** In words, for a condition of the pod: with numbers, as nobody groups it by its text. */
    public String text(List<ContainerAsk> asks) {
        if (kept) {
            return "what is free for it is kept for pods for which others had to go";
        }
        var text = new StringBuilder(Reason.NO_ROOM.text(asks));
        text.append(": of ").append(count(gpus, "GPU")).append(" on ").append(count(nodes, "node"));
        if (node.isEmpty()) {
            text.append(", all are in full use");
        } else if (asks.stream().allMatch(ask -> ask.ask().whole())) {
            text.append(", most are free on %s, %d".formatted(node, idle));
        } else {
            text.append(
                    ", most is free of one on %s, %d of 100 and %d MiB"
                            .formatted(node, cores, memory));
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
