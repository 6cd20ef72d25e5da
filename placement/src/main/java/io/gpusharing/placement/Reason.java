package io.gpusharing.placement;

import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.sharing.GpuAsk;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;

/**
 * Why a pod does not fit on a node. kube-scheduler groups nodes by the text, puts their number in
 * front and formats it, so there are few, they name no node, and none has a percent sign. Those
 * that may be mended soonest come first.
 */
public enum Reason {
    /** Others hold too much. */
    NO_ROOM,
    /** Others hold too much of the one GPU that it is to share with pods of its group. */
    NO_ROOM_BESIDE,
    /** It would fit, but those who have the GPUs with room share them in another way. */
    SHARED_OTHERWISE,
    /** It would fit, into room that was made for somebody else. */
    KEPT,
    /** The pod is being bound to another node just now. */
    BEING_BOUND,
    /** All GPUs of the node are unhealthy. */
    UNHEALTHY,
    /** Not even an empty GPU is large enough, or the node has too few. */
    TOO_LARGE,
    /** The pods with which it is to share a GPU are on another one. */
    ELSEWHERE,
    /** Our device plugin does not run there, or has no GPU to share. */
    NOT_SHARED;

    /**
     * Of a node on which a pod does not fit.
     *
     * @param all the node's GPUs that our device plugin shares, healthy or not, as if nobody held
     *     any
     * @param free what is left of each GPU on which containers may start
     * @param fitsWhereKept whether it would fit if nothing were kept for others
     */
    public static Reason of(
            List<ContainerAsk> pod, GpuLayout all, GpuLayout free, BooleanSupplier fitsWhereKept) {
        if (all.gpus().isEmpty()) {
            return NOT_SHARED;
        }
        GpuLayout eligible = PodPlacement.eligible(pod, all);
        if (eligible.gpus().isEmpty()) {
            return ELSEWHERE;
        }
        if (!couldFit(pod, eligible)) {
            return TOO_LARGE;
        }
        GpuLayout usable = PodPlacement.eligible(pod, free);
        if (usable.gpus().isEmpty()) {
            return UNHEALTHY;
        }
        if (fitsWhereKept.getAsBoolean()) {
            return KEPT;
        }
        if (isSharingAlone(pod, usable)) {
            return SHARED_OTHERWISE;
        }
        return isAlone(pod) ? NO_ROOM : NO_ROOM_BESIDE;
    }

    /** Whether it is to share a GPU with nobody by wish: else it may be on one alone. */
    private static boolean isAlone(List<ContainerAsk> pod) {
        return pod.stream().allMatch(ask -> ask.on().isEmpty());
    }

    /** Whether it would fit if it did not matter how GPUs are shared. */
    private static boolean isSharingAlone(List<ContainerAsk> pod, GpuLayout free) {
        for (Gpu gpu : free.gpus()) {
            for (ContainerAsk ask : pod) {
                if (!gpu.admits(ask.ask())) {
                    return PodPlacement.placed(pod, free.sharedInAnyWay()).isPresent();
                }
            }
        }
        return false;
    }

    /** Whether it would fit if nobody else were there and all GPUs were healthy. */
    private static boolean couldFit(List<ContainerAsk> pod, GpuLayout all) {
        for (ContainerAsk ask : pod) {
            if (all.gpus().stream().filter(gpu -> gpu.fits(ask.ask())).count()
                    < ask.ask().count()) {
                return false;
            }
        }
        return pod.size() == 1 || PodPlacement.placed(pod, all).isPresent();
    }

    /** Whether it may fit there when pods go. */
    public boolean passes() {
        return switch (this) {
            case NO_ROOM, NO_ROOM_BESIDE, SHARED_OTHERWISE, KEPT, BEING_BOUND -> true;
            case UNHEALTHY, TOO_LARGE, ELSEWHERE, NOT_SHARED -> false;
        };
    }

    /**
     * In words.
     *
     * @param pod what its containers ask for
     */
    public String text(List<ContainerAsk> pod) {
        return switch (this) {
            case NO_ROOM ->
                    asked(
                            pod,
                            "fewer than %d GPUs are all free",
                            "no single GPU has %s free",
                            "the node does not have %s free");
            case NO_ROOM_BESIDE ->
                    asked(
                            pod,
                            "the GPU of the pods with which it is to share one is not all free",
                            "the GPU of the pods with which it is to share one does not have %s free",
                            "the GPU of the pods with which it is to share one does not have %s free");
            case SHARED_OTHERWISE ->
                    isAlone(pod)
                            ? "each GPU that has room for it is shared by pods that it may not share one with"
                            : "the GPU of the pods with which it is to share one is shared in another way than it may share one";
            case KEPT -> "what is free of its GPUs is kept for a pod for which others had to go";
            case TOO_LARGE ->
                    asked(
                            pod,
                            "the node has fewer than %d GPUs",
                            "no GPU has %s",
                            "the node does not have %s");
            case UNHEALTHY ->
                    isAlone(pod)
                            ? "every GPU of the node is unhealthy"
                            : "the GPU of the pods with which it is to share one is unhealthy";
            case NOT_SHARED -> "its GPUs are not shared by GPUSharing";
            case ELSEWHERE -> "the pods with which it is to share a GPU are on another one";
            case BEING_BOUND -> "it is being bound to another node";
        };
    }

    private static String asked(List<ContainerAsk> pod, String wholes, String parts, String both) {
        int whole =
                pod.stream()
                        .filter(ask -> ask.ask().whole())
                        .mapToInt(ask -> ask.ask().count())
                        .sum();
        String amounts =
                pod.stream()
                        .filter(ask -> !ask.ask().whole())
                        .map(ask -> amount(ask.ask()))
                        .distinct()
                        .collect(Collectors.joining(" and another "));
        if (whole == 0) {
            return parts.formatted(amounts);
        }
        return amounts.isEmpty()
                ? wholes.formatted(whole)
                : both.formatted(
                        "%d whole %s and, of another, %s"
                                .formatted(whole, whole == 1 ? "GPU" : "GPUs", amounts));
    }

    private static String amount(GpuAsk ask) {

        String memory =
                ask.memoryPercent() > 0
                        ? ask.memoryPercent() + " of 100 of its memory"
                        : ask.memory() + " MiB";
        return ask.cores() == 0
                ? memory
                : ask.cores() + " of 100" + (ask.memory() > 0 ? " and " + memory : "");
    }
}
