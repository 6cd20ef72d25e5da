package io.gpusharing.cli.explain;

import static java.util.Objects.requireNonNullElse;
import static java.util.stream.Collectors.joining;

import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.ApiTime;
import io.gpusharing.Names;
import io.gpusharing.budget.GpuBudgetSpec.OnExhausted;
import io.gpusharing.budget.InvalidSpec;
import io.gpusharing.budget.PublishedBudget;
import io.gpusharing.budget.Standing;
import io.gpusharing.budget.Standing.OverBudget;
import io.gpusharing.cli.budget.LoweredPods;
import io.gpusharing.cli.budget.PayingBudget;
import io.gpusharing.cli.cluster.Cluster;
import io.gpusharing.cli.cluster.Kind;
import io.gpusharing.cli.cluster.NotAllowed;
import io.gpusharing.cli.cluster.NotInstalled;
import io.gpusharing.kubernetes.GpuNode;
import io.gpusharing.kubernetes.PodPhase;
import io.gpusharing.kubernetes.ResourceReader;
import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.PodRequest;
import io.gpusharing.sharing.ProviderAsk;
import io.gpusharing.wire.GpuNodeStatus;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** What its owner should know of a pod besides where it is. */
final class PodNotes {

    static final String WHOLE_GPUS = "nvidia.com/gpu";

    private PodNotes() {}

    /** Sentences; none where there is nothing to say. */
    static List<String> of(Cluster cluster, String namespace, Pod pod, Instant now) {
        var notes = new ArrayList<String>();
        boolean isBound = pod.getSpec().getNodeName() != null;
        Optional<PublishedBudget> budget =
                isBound || Standing.wasOver(pod.getMetadata().getAnnotations())
                        ? budget(cluster, namespace)
                        : Optional.empty();
        lowered(pod, budget.map(it -> it.standingAt(now) instanceof OverBudget))
                .ifPresent(notes::add);
        if (isBound && !PodPhase.hasEnded(pod)) {
            budget.flatMap(it -> reclaimable(it, pod, now)).ifPresent(notes::add);
        }
        if (!isBound) {
            offered(cluster, ResourceReader.request(pod.getSpec(), WHOLE_GPUS::equals))
                    .ifPresent(notes::add);
        }
        return notes;
    }

    /** The budget that pays now; empty if none does, it makes no sense, or we may not see it. */
    private static Optional<PublishedBudget> budget(Cluster cluster, String namespace) {
        try {
            return PayingBudget.of(cluster, namespace)
                    .filter(budget -> InvalidSpec.of(budget.spec()).isEmpty());
        } catch (NotAllowed | NotInstalled e) {
            return Optional.empty();
        }
    }

    /**
     * Whoever is admitted over budget gives way to everybody in budget, unless it only observes.
     *
     * @param isOver whether the budget is used up now; empty if that is not known
     */
    private static Optional<String> lowered(Pod pod, Optional<Boolean> isOver) {
        Map<String, String> annotations = annotations(pod);
        if (!Standing.wasOver(annotations)) {
            return Optional.empty();
        }
        String when =
                "The budget %s was used up when the pod was admitted (%s)"
                        .formatted(
                                annotations.getOrDefault(Names.BUDGET_ANNOTATION, ""),
                                annotations.getOrDefault(Names.STANDING_AS_OF_ANNOTATION, "?"));
        return Optional.of(
                LoweredPods.isLowered(pod)
                        ? when
                                + ", so it has the priority class %s"
                                        .formatted(pod.getSpec().getPriorityClassName())
                                + consequence(pod, isOver.orElse(true))
                        : when + "; kubectl gpusharing budgets says what is left now");
    }

    /** Our scheduler goes by how budgets stand now, another one by the class, which stays. */
    private static String consequence(Pod pod, boolean isOver) {
        boolean isOurs = LoweredPods.isPlacedByOurs(pod);
        if (isOver) {
            return isOurs
                    ? " and gives way to pods in budget until kubectl gpusharing budgets says InBudget"
                    : " and gives way to pods in budget; it keeps that: once kubectl gpusharing budgets says InBudget, "
                            + LoweredPods.anew(pod);
        }
        return isOurs
                ? ". The budget has time again: GPUSharing's scheduler preempts it for no pod in budget, whatever its class"
                : " and keeps it. The budget has time again, and yet a scheduler that goes by the class preempts it for any pod in budget: "
                        + LoweredPods.anew(pod);
    }

    /** By the present standing of its budget, whatever its class is. */
    private static Optional<String> reclaimable(PublishedBudget budget, Pod pod, Instant now) {
        return "true".equals(annotations(pod).get(Names.DO_NOT_RECLAIM_ANNOTATION))
                        || !budget.spec().onExhausted().allowsEviction(LoweredPods.isLowered(pod))
                        || !(budget.standingAt(now) instanceof OverBudget)
                ? Optional.empty()
                : Optional.of(when(budget, pod, now));
    }

    private static String when(PublishedBudget budget, Pod pod, Instant now) {
        Instant began =
                pod.getStatus() == null
                        ? null
                        : ApiTime.readPresent(pod.getStatus().getStartTime());
        Instant from = began == null ? null : began.plus(budget.spec().minimumRun());
        String when =
                from == null || !from.isAfter(now)
                        ? "at any moment"
                        : "from %s on, %s after its start,"
                                .formatted(
                                        from.truncatedTo(ChronoUnit.SECONDS),
                                        budget.spec().minimumRunTime());
        return "The budget %s is used up and %s: %s the pod may be evicted for one of a budget with time left that waits and would then fit"
                .formatted(budget.name(), done(budget.spec().onExhausted()), when);
    }

    private static String done(OnExhausted rule) {
        return switch (rule) {
            case Observe -> "observes";
            case LowerPriority -> "lowers the priority";
            case Reclaim -> "reclaims";
            case Refuse -> "refuses";
        };
    }

    /**
     * What to write instead of {@code nvidia.com/gpu} to get GPUs of our nodes; empty if that is
     * not asked for, or there are no nodes of ours, or they are not shown to us.
     */
    static Optional<String> offered(Cluster cluster, PodRequest request) {
        List<ContainerRequest> asking =
                request.containers().stream()
                        .filter(it -> ProviderAsk.units(it, WHOLE_GPUS) > 0)
                        .toList();
        if (asking.isEmpty()) {
            return Optional.empty();
        }
        Set<String> resources = new HashSet<>();
        var nodes = new ArrayList<String>();
        try {
            cluster
                    .ask(
                            "list",
                            Kind.GPUNODES,
                            client -> client.resources(GpuNode.class).list().getItems())
                    .stream()
                    .forEach(node -> {
                        GpuNodeStatus status = node.getStatus();
                        List<String> offered = status == null ? null : status.resources();
                        // Where NVIDIA's own name is offered, it is what to write.
                        if (offered != null && !offered.contains(WHOLE_GPUS)) {
                            resources.addAll(offered);
                            nodes.add(node.getMetadata().getName());
                        }
                    });
        } catch (NotAllowed | NotInstalled e) {
            return Optional.empty();
        }
        String instead =
                asking.stream()
                        .flatMap(it -> instead(it, resources).stream())
                        .collect(joining(", "));
        return instead.isEmpty()
                ? Optional.empty()
                : Optional.of(
                        "%s is what NVIDIA's device plugin hands out; for GPUs of %s write %s"
                                .formatted(WHOLE_GPUS, nodes(nodes), instead));
    }

    /** In hundredths of a GPU; empty where pods ask for memory alone. */
    private static Optional<String> instead(ContainerRequest container, Set<String> resources) {
        long hundredths = ProviderAsk.units(container, WHOLE_GPUS) * 100;
        return Stream.of("tencent.com/vcuda-core", "cnvrg.io/metagpu")
                .filter(resources::contains)
                .findFirst()
                .map(it -> "%s: %d in %s".formatted(it, hundredths, container.name()));
    }

    private static String nodes(List<String> names) {
        return names.size() == 1
                ? names.getFirst()
                : "%s and %d more nodes of GPUSharing"
                        .formatted(names.getFirst(), names.size() - 1);
    }

    private static Map<String, String> annotations(Pod pod) {
        return requireNonNullElse(pod.getMetadata().getAnnotations(), Map.of());
    }
}
