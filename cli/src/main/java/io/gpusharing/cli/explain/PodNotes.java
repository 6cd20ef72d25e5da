package io.gpusharing.cli.explain;

import static java.util.Objects.requireNonNullElse;
import static java.util.stream.Collectors.joining;

import io.fabric8.kubernetes.api.model.Pod;
import io.gpusharing.ApiTime;
import io.gpusharing.Names;
import io.gpusharing.budget.InvalidSpec;
import io.gpusharing.budget.PublishedBudget;
import io.gpusharing.budget.Standing.OverBudget;
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
import java.util.Locale;
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
        lowered(pod).ifPresent(notes::add);
        boolean isBound = pod.getSpec().getNodeName() != null;
        if (isBound && !PodPhase.hasEnded(pod)) {
            reclaimable(cluster, namespace, pod, now).ifPresent(notes::add);
        }
        if (!isBound) {
            offered(cluster, ResourceReader.request(pod.getSpec(), WHOLE_GPUS::equals))
                    .ifPresent(notes::add);
        }
        return notes;
    }

    /**
     * Whoever is admitted over budget gives way to everybody in budget, unless it only observes.
     */
    private static Optional<String> lowered(Pod pod) {
        Map<String, String> annotations = annotations(pod);
        if (!"OverBudget".equals(annotations.get(Names.STANDING_ANNOTATION))) {
            return Optional.empty();
        }
        String when =
                "The budget %s was used up when the pod was admitted (%s)"
                        .formatted(
                                annotations.getOrDefault(Names.BUDGET_ANNOTATION, ""),
                                annotations.getOrDefault(Names.STANDING_AS_OF_ANNOTATION, "?"));
        // Below zero is whoever gives way; a budget that only observes lowers nobody.
        boolean isLow = requireNonNullElse(pod.getSpec().getPriority(), 0) < 0;
        return Optional.of(
                isLow
                        ? when
                                + ", so it has the priority class %s and gives way to pods in budget; it keeps that: once kubectl gpusharing budgets says InBudget, create it anew"
                                        .formatted(pod.getSpec().getPriorityClassName())
                        : when + "; kubectl gpusharing budgets says what is left now");
    }

    /** By the present standing of its budget, whatever its class is. */
    private static Optional<String> reclaimable(
            Cluster cluster, String namespace, Pod pod, Instant now) {
        if ("true".equals(annotations(pod).get(Names.DO_NOT_RECLAIM_ANNOTATION))) {
            return Optional.empty();
        }
        try {
            return PayingBudget.of(cluster, namespace)
                    .filter(budget -> InvalidSpec.of(budget.spec()).isEmpty())
                    .filter(budget -> budget.spec().onExhausted().allowsEviction())
                    .filter(budget -> budget.standingAt(now) instanceof OverBudget)
                    .map(budget -> reclaimable(budget, pod, now));
        } catch (NotAllowed | NotInstalled e) {
            return Optional.empty();
        }
    }

    private static String reclaimable(PublishedBudget budget, Pod pod, Instant now) {
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
        return "The budget %s is used up and %ss: %s the pod may be evicted for one of a budget with time left that waits and would then fit"
                .formatted(
                        budget.name(),
                        budget.spec().onExhausted().name().toLowerCase(Locale.ROOT),
                        when);
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
