package io.gpusharing.webhook.cluster;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.LimitRange;
import io.fabric8.kubernetes.api.model.LimitRangeItem;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.ResourceQuota;
import io.fabric8.kubernetes.api.model.scheduling.v1.PriorityClass;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.GpuBudget;
import io.gpusharing.kubernetes.GpuNode;
import io.gpusharing.kubernetes.ObjectInformer;
import io.gpusharing.request.NodeFacts;
import io.gpusharing.request.Quantity;
import java.time.Clock;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.context.SmartLifecycle;

/** Watches what admissions depend on; see {@link Surroundings}. */
public final class ClusterWatch implements SmartLifecycle {

    /** Name of the ConfigMap that holds the certificate of the reporting CA. */
    public static final String REPORTING_CA = "gpusharing-reporting-ca";

    private final Clock clock;
    private final ObjectInformer<GpuBudget> budgets;
    private final BudgetReader budgetReader;
    private final Watched<PriorityClass, PriorityClasses> classes;
    private final Watched<Node, Nodes> nodes;
    private final Watched<GpuNode, Map<String, Set<String>>> sharing;
    private final boolean placing;
    private final Watched<LimitRange, Map<String, ContainerLimits>> limits;
    private final ObjectInformer<ResourceQuota> quotas;
    private final Watched<ConfigMap, Optional<String>> reportingCa;
    private final Watched<ConfigMap, Optional<String>> injection;
    private volatile boolean running;

    /**
     * What is read of all nodes.
     *
     * @param facts what GPUs they have
     * @param labelled names of those on which our device plugin is to run
     * @param elsewhere what others offer of the same
     */
    record Nodes(List<NodeFacts> facts, Set<String> labelled, Set<String> elsewhere) {}

    /**
     * @param namespace our own
     * @param gpuResource resources that ask for GPUs
     * @param placement whether to know which GPUs our device plugins share
     * @param sharedBudget see {@link PublishedBudgets}
     */
    public ClusterWatch(
            KubernetesClient client,
            String namespace,
            Predicate<String> gpuResource,
            PlacementProperties placement,
            Optional<String> sharedBudget,
            Clock clock) {
        this.clock = clock;
        this.budgetReader = new BudgetReader(clock, sharedBudget);
        this.budgets = new ObjectInformer<>("gpubudgets", client.resources(GpuBudget.class));
        this.classes =
                new Watched<>(
                        "priorityclasses",
                        client.scheduling().v1().priorityClasses(),
                        ClusterWatch::classes,
                        PriorityClasses.NONE);
        this.nodes =
                new Watched<>(
                        "nodes",
                        client.nodes(),
                        found ->
                                new Nodes(
                                        nodes(found, gpuResource),
                                        SharedGpusReader.labelled(found, placement),
                                        SharedGpusReader.elsewhere(found, placement)),
                        new Nodes(List.of(), Set.of(), Set.of()));
        this.placing = placement.isWanted();
        this.sharing =
                new Watched<>(
                        "gpunodes",
                        client.resources(GpuNode.class),
                        found -> SharedGpusReader.offering(found, placement),
                        Map.of());
        this.limits =
                new Watched<>(
                        "limitranges",
                        client.limitRanges().inAnyNamespace(),
                        ClusterWatch::limits,
                        Map.of());
        this.quotas =
                new ObjectInformer<>("resourcequotas", client.resourceQuotas().inAnyNamespace());
        this.reportingCa =
                new Watched<>(
                        "configmaps",
                        client.configMaps().inNamespace(namespace).withName(REPORTING_CA),
                        ClusterWatch::certificate,
                        Optional.empty());
        this.injection =
                new Watched<>(
                        "configmaps/" + Names.INJECTION_SWITCH,
                        client.configMaps().inNamespace(namespace).withName(Names.INJECTION_SWITCH),
                        ClusterWatch::unpullable,
                        Optional.empty());
    }

    private SharedGpus shared() {
        Nodes now = nodes.value();
        return new SharedGpus(sharing.value(), now.labelled(), now.elsewhere());
    }

    /** What the cluster says now. */
    public Surroundings now() {
        return new Surroundings(
                budgetReader.budgets(),
                classes.value(),
                nodes.value().facts(),
                shared(),
                limits.value(),
                QuotaReader.of(quotas.objects()),
                reportingCa.value().orElse(null),
                injection.value().orElse(null),
                budgets.isInterrupted(),
                clock.instant());
    }

    /** What an admission cannot do without and that has not been read yet. */
    public List<String> missing() {
        // Nodes only warn, and what the others are for concerns the metering container alone.
        return Stream.of(budgets, classes.informer())
                .filter(informer -> !informer.hasSynced())
                .map(ObjectInformer::plural)
                .toList();
    }

    @Override
    public void start() {
        running = true;
        var _ = budgets.start(budgetReader);
        classes.start();
        nodes.start();
        if (placing) {
            sharing.start();
        }
        limits.start();
        // They change with every pod of their namespace, and are read when somebody asks.
        var _ = quotas.start(new ObjectInformer.Handler<>() {});
        reportingCa.start();
        injection.start();
    }

    @Override
    public void stop() {
        running = false;
        all().forEach(ObjectInformer::close);
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    /** Everything that is watched. */
    Stream<ObjectInformer<?>> all() {
        return Stream.concat(
                Stream.of(budgets, quotas),
                Stream.of(classes, nodes, sharing, limits, reportingCa, injection)
                        .filter(watched -> placing || watched != sharing)
                        .map(Watched::informer));
    }

    private static Map<String, ContainerLimits> limits(Collection<LimitRange> found) {
        return found.stream()
                .collect(
                        Collectors.groupingBy(
                                range -> range.getMetadata().getNamespace(),
                                Collectors.collectingAndThen(
                                        Collectors.flatMapping(
                                                range ->
                                                        range.getSpec().getLimits().stream()
                                                                .map(ClusterWatch::limits),
                                                Collectors.toList()),
                                        ContainerLimits::of)));
    }

    static ContainerLimits limits(LimitRangeItem item) {
        return switch (item.getType()) {
            case "Container" ->
                    new ContainerLimits(
                            amounts(item.getMin()),
                            amounts(item.getMax()),
                            Map.of(),
                            amounts(item.getMaxLimitRequestRatio()));
            case "Pod" ->
                    new ContainerLimits(
                            Map.of(),
                            Map.of(),
                            amounts(item.getMax()),
                            amounts(item.getMaxLimitRequestRatio()));
            default -> ContainerLimits.NONE;
        };
    }

    private static Map<String, Quantity> amounts(
            @Nullable Map<String, io.fabric8.kubernetes.api.model.Quantity> found) {
        return found == null
                ? Map.of()
                : found.entrySet().stream()
                        .collect(
                                Collectors.toMap(
                                        Map.Entry::getKey,
                                        entry -> Quantity.parse(entry.getValue().toString())));
    }

    private static PriorityClasses classes(Collection<PriorityClass> found) {
        var values = new HashMap<String, Integer>();
        var neverPreempting = new HashSet<String>();
        String globalDefault = null;
        for (PriorityClass each : found) {
            String name = each.getMetadata().getName();
            values.put(name, each.getValue());
            if ("Never".equals(each.getPreemptionPolicy())) {
                neverPreempting.add(name);
            }
            if (Boolean.TRUE.equals(each.getGlobalDefault())) {
                globalDefault = name;
            }
        }
        return new PriorityClasses(values, neverPreempting, globalDefault);
    }

    /**
     * Of nodes with the same GPUs one is enough: they are looked through at every request. Of their
     * labels those stay that say what the GPUs are; others differ from node to node.
     */
    static List<NodeFacts> nodes(Collection<Node> found, Predicate<String> gpuResource) {
        return found.stream()
                .map(node -> facts(node, gpuResource))
                .filter(facts -> !facts.capacity().isEmpty())
                .distinct()
                .toList();
    }

    private static NodeFacts facts(Node node, Predicate<String> gpuResource) {
        var capacity = new HashMap<String, Quantity>();
        if (node.getStatus() != null && node.getStatus().getCapacity() != null) {
            node.getStatus()
                    .getCapacity()
                    .forEach((name, amount) -> {
                        if (gpuResource.test(name)) {
                            capacity.put(name, Quantity.parse(amount.toString()));
                        }
                    });
        }
        var labels =
                new HashMap<>(
                        Objects.requireNonNullElse(
                                node.getMetadata().getLabels(), Map.<String, String>of()));
        labels.keySet().removeIf(name -> !name.startsWith("nvidia.com/gpu."));
        return new NodeFacts(
                capacity,
                labels,
                Objects.requireNonNullElse(node.getMetadata().getAnnotations(), Map.of()));
    }

    /** Written by the timekeeper, and by administrators. */
    private static Optional<String> unpullable(Collection<ConfigMap> found) {
        return found.stream()
                .map(map -> Objects.requireNonNullElse(map.getData(), Map.<String, String>of()))
                .filter(data -> "Off".equals(data.get("injection")))
                .map(data -> data.get("image"))
                .filter(Objects::nonNull)
                .findFirst();
    }

    private static Optional<String> certificate(Collection<ConfigMap> found) {
        return found.stream()
                .map(map -> map.getData() == null ? null : map.getData().get("ca.crt"))
                .filter(Objects::nonNull)
                .findFirst();
    }
}
