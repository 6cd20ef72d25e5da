package io.gpusharing.scheduler.gpus;

import io.gpusharing.placement.GpuAsk;
import io.gpusharing.placement.PodPlacement.ContainerAsk;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Why a pod does not fit on a node. kube-scheduler groups nodes by the text, puts their number in
 * front and formats it, so there are few, they name no node, and none has a percent sign.
 */
public enum Reason {
    /** Others hold too much. */
    NO_ROOM,
    /** It would fit, into room that was made for somebody else. */
    KEPT,
    /** Not even an empty GPU is large enough, or the node has too few. */
    TOO_LARGE,
    /** All GPUs of the node are unhealthy. */
    UNHEALTHY,
    /** Our device plugin does not run there, or has no GPU to share. */
    NOT_SHARED,
    /** The pod is being bound to another node just now. */
    BEING_BOUND;

    /**
     * In words.
     *
     * @param pod what its containers ask for
     */
    public String text(List<ContainerAsk> pod) {
        return switch (this) {
            case NO_ROOM ->
                    asked(pod, "fewer than %d GPUs are all free", "no single GPU has %s free");
            case KEPT -> "what is free of its GPUs is kept for a pod for which others had to go";
            case TOO_LARGE -> asked(pod, "the node has fewer than %d GPUs", "no GPU has %s");
            case UNHEALTHY -> "every GPU of the node is unhealthy";
            case NOT_SHARED -> "its GPUs are not shared by GPUSharing";
            case BEING_BOUND -> "it is being bound to another node";
        };
    }

    private static String asked(List<ContainerAsk> pod, String wholes, String parts) {
        if (pod.stream().allMatch(ask -> ask.ask().whole())) {
            return wholes.formatted(pod.stream().mapToInt(ask -> ask.ask().count()).sum());
        }
        return parts.formatted(
                pod.stream()
                        .map(ask -> amount(ask.ask()))
                        .distinct()
                        .collect(Collectors.joining(" and another ")));
    }

    private static String amount(GpuAsk ask) {
        if (ask.whole()) {
            return "all of its processors";
        }
        String memory =
                ask.memoryPercent() > 0
                        ? ask.memoryPercent() + " of 100 of its memory"
                        : ask.memory() + " MiB";
        return ask.cores() == 0
                ? memory
                : ask.cores() + " of 100" + (ask.memory() > 0 ? " and " + memory : "");
    }
}
