package io.gpusharing.webhook.cluster;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.LimitRange;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.ResourceQuota;
import io.fabric8.kubernetes.api.model.scheduling.v1.PriorityClass;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.gpusharing.NameList;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.GpuBudget;
import io.gpusharing.kubernetes.GpuNode;
import io.gpusharing.kubernetes.ObjectInformer;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.webhook.cluster.SharedGpusReader.Offer;
import io.gpusharing.webhook.cluster.SharedGpusReader.Offers;
import java.time.Clock;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.context.SmartLifecycle;

/** Watches what admissions depend on; see {@link Surroundings}. */
public final class ClusterWatch implements SmartLifecycle {

    /** Name of the ConfigMap that holds the certificate of the reporting CA. */
    public static final String REPORTING_CA = "gpusharing-reporting-ca";

    private final Clock clock;
    private final ObjectInformer<GpuBudget> budgets;
    private final BudgetReader budgetReader;
    private final Watched<PriorityClass, PriorityClass, PriorityClasses> classes;
    private final Watched<Node, KnownNode, KnownNode.All> nodes;
    private final Watched<GpuNode, Offer, Offers> sharing;
    private final PlacementProperties placement;
    private final ObjectInformer<LimitRange> limits;
    private final ByNamespace<LimitRange, ContainerLimits> limitsRead =
            new ByNamespace<>(LimitRangeReader::limits);
    private final ObjectInformer<ResourceQuota> quotas;
    private final ByNamespace<ResourceQuota, Quota> quotasRead =
            new ByNamespace<>(QuotaReader::quota);
    private final Watched<Namespace, String, Set<String>> unmetered;
    private final Watched<ConfigMap, ConfigMap, Optional<String>> reportingCa;
    private final Watched<ConfigMap, ConfigMap, Optional<StoppedInjection>> injection;
    private volatile boolean running;

    /**
     * @param namespace our own
     * @param gpuResource resources that ask for GPUs
     * @param placement whether to know which GPUs our device plugins share
     * @param sharedBudget see {@link PublishedBudgets}
     * @param unreadable takes what cannot be read; nothing waits for it
     */
    public ClusterWatch(
            KubernetesClient client,
            String namespace,
            Predicate<String> gpuResource,
            PlacementProperties placement,
            Optional<String> sharedBudget,
            UnreadableObjects unreadable,
            Clock clock) {
        this.clock = clock;
        this.budgetReader = new BudgetReader(clock, sharedBudget);
        this.budgets =
                new ObjectInformer<>("gpubudgets", client.resources(GpuBudget.class), unreadable);
        this.classes =
                new Watched<>(
                        "priorityclasses",
                        client.scheduling().v1().priorityClasses(),
                        unreadable,
                        Function.identity(),
                        ClusterWatch::classes,
                        PriorityClasses.NONE);
        this.nodes =
                new Watched<>(
                        "nodes",
                        client.nodes(),
                        unreadable,
                        node -> KnownNode.of(node, gpuResource, placement),
                        KnownNode.All::of,
                        KnownNode.All.NONE);
        this.placement = placement;
        this.sharing =
                new Watched<>(
                        "gpunodes",
                        client.resources(GpuNode.class),
                        unreadable,
                        node -> SharedGpusReader.offer(node, placement),
                        Offers::of,
                        Offers.NONE);
        this.limits =
                new ObjectInformer<>(
                        "limitranges", client.limitRanges().inAnyNamespace(), unreadable);
        this.quotas =
                new ObjectInformer<>(
                        "resourcequotas", client.resourceQuotas().inAnyNamespace(), unreadable);
        this.unmetered =
                new Watched<>(
                        "namespaces",
                        client.namespaces().withLabel(Names.INJECT_LABEL, "false"),
                        unreadable,
                        found -> found.getMetadata().getName(),
                        Set::copyOf,
                        Set.of());
        this.reportingCa =
                ofConfigMap(
                        "configmaps",
                        client.configMaps().inNamespace(namespace).withName(REPORTING_CA),
                        unreadable,
                        ClusterWatch::certificate);
        this.injection =
                ofConfigMap(
                        "configmaps/" + Names.INJECTION_SWITCH,
                        client.configMaps().inNamespace(namespace).withName(Names.INJECTION_SWITCH),
                        unreadable,
                        ClusterWatch::stopped);
    }

    private static <V> Watched<ConfigMap, ConfigMap, Optional<V>> ofConfigMap(
            String what,
            Resource<ConfigMap> configMap,
            UnreadableObjects unreadable,
            Function<Collection<ConfigMap>, Optional<V>> read) {
        return new Watched<>(
                what, configMap, unreadable, Function.identity(), read, Optional.empty());
    }

    private SharedGpus shared() {
        KnownNode.All now = nodes.value();
        return new SharedGpus(
                sharing.value().nodes(), now.labelled(), now.elsewhere(), awaited(now.others()));
    }

    /** Nothing while the nodes are not known. */
    private Set<String> awaited(Set<String> others) {
        return nodes.informer().hasSynced()
                ? placement.installedFor().stream()
                        .filter(resource -> !others.contains(resource))
                        .collect(Collectors.toUnmodifiableSet())
                : Set.of();
    }

    /** What the cluster says now. */
    public Surroundings now() {
        return new Surroundings(
                budgetReader.budgets(),
                classes.value(),
                sharing.value().with(nodes.value().facts()),
                shared(),
                unmetered.value(),
                this::demandsIn,
                reportingCa.value().orElse(null),
                injection.value().orElse(null),
                budgets.isInterrupted(),
                clock.instant());
    }

    private Demands demandsIn(String namespace) {
        return new Demands(
                ContainerLimits.of(limitsRead.in(namespace)),
                quotasRead.in(namespace),
                Stream.concat(
                                limitsRead.unreadIn(namespace).stream().map("LimitRange "::concat),
                                quotasRead.unreadIn(namespace).stream().map("quota "::concat))
                        .toList());
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
        if (placement.isWanted()) {
            sharing.start();
        }
        var _ = limits.start(limitsRead);
        var _ = quotas.start(quotasRead);
        unmetered.start();
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
                Stream.of(budgets, limits, quotas),
                Stream.of(classes, nodes, sharing, unmetered, reportingCa, injection)
                        .filter(watched -> placement.isWanted() || watched != sharing)
                        .map(Watched::informer));
    }

    private static PriorityClasses classes(Collection<PriorityClass> found) {
        var values = new HashMap<String, Integer>();
        var neverPreempting = new HashSet<String>();
        String globalDefault = null;
        for (PriorityClass each : found) {
            String name = each.getMetadata().getName();
            values.put(name, Objects.requireNonNullElse(each.getValue(), 0));
            if ("Never".equals(each.getPreemptionPolicy())) {
                neverPreempting.add(name);
            }
            if (Boolean.TRUE.equals(each.getGlobalDefault())) {
                globalDefault = name;
            }
        }
        return new PriorityClasses(values, neverPreempting, globalDefault);
    }

    /** Written by the timekeeper, and by administrators. */
    private static Optional<StoppedInjection> stopped(Collection<ConfigMap> found) {
        return found.stream().flatMap(map -> stopped(map).stream()).findFirst();
    }

    private static Optional<StoppedInjection> stopped(ConfigMap map) {
        Map<String, String> data =
                Objects.requireNonNullElse(map.getData(), Map.<String, String>of());
        String image = data.get("image");
        return "Off".equals(data.get("injection")) && image != null
                ? Optional.of(new StoppedInjection(image, NameList.read(data.get("namespaces"))))
                : Optional.empty();
    }

    private static Optional<String> certificate(Collection<ConfigMap> found) {
        return found.stream()
                .map(map -> map.getData() == null ? null : map.getData().get("ca.crt"))
                .filter(Objects::nonNull)
                .findFirst();
    }
}
