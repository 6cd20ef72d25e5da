package io.gpusharing.cli.inspect;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.joining;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodList;
import io.fabric8.kubernetes.client.dsl.FilterWatchListDeletable;
import io.fabric8.kubernetes.client.dsl.PodResource;
import io.gpusharing.Names;
import io.gpusharing.cli.cluster.Cluster;
import io.gpusharing.cli.cluster.Kind;
import io.gpusharing.cli.cluster.NotAllowed;
import io.gpusharing.cli.cluster.NotInstalled;
import io.gpusharing.cli.console.Failure;
import io.gpusharing.kubernetes.GpuNode;
import io.gpusharing.kubernetes.ResourceReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Asks the API server which GPUs there are and who has them: by GpuNodes, and where there is none
 * by nodes and the annotations of pods.
 */
final class InspectionReader {

    /** Resources of device plugins that write nothing here reads. */
    private static final List<String> OF_OTHERS =
            List.of("nvidia.com/gpu", "nvidia.com/gpu.shared", "cnvrg.io/metagpu");

    private final Cluster cluster;
    private final @Nullable String name;
    private final List<String> notes = new ArrayList<>();

    /**
     * @param name of one node; null for all
     */
    InspectionReader(Cluster cluster, @Nullable String name) {
        this.cluster = cluster;
        this.name = name;
    }

    /**
     * @throws Failure if there is no such node, or the user may see neither GpuNodes nor nodes
     */
    Inspection read() {
        List<GpuNode> served = served();
        Map<String, Node> others = nodes(served.isEmpty());
        if (name != null && served.isEmpty() && others.isEmpty()) {
            throw new Failure(
                    "There is no node %s; kubectl gpusharing inspect shows all".formatted(name));
        }
        var hosts = new ArrayList<Host>();
        List<Pod> placed = served.isEmpty() ? List.of() : placed();
        for (GpuNode node : served) {
            hosts.add(
                    GpuNodeReader.read(node, others.remove(node.getMetadata().getName()), placed));
        }
        hosts.addAll(
                annotated(
                        others.values().stream().filter(AnnotationReader::reads).toList(),
                        hosts.isEmpty()));
        noteOthers(others.values().stream().filter(it -> !AnnotationReader.reads(it)).toList());
        if (hosts.isEmpty()) {
            notes.add("No GPUs that are shared are known here");
        }
        return new Inspection(hosts, notes);
    }

    private List<GpuNode> served() {
        try {
            return objects(Kind.GPUNODES, GpuNode.class).stream()
                    .filter(GpuNodeReader::serves)
                    .toList();
        } catch (NotInstalled e) {
            return List.of();
        } catch (NotAllowed e) {
            notes.add(e.getMessage());
            return List.of();
        }
    }

    /** By name; none if only GpuNodes may be seen, which are enough where there are any. */
    private Map<String, Node> nodes(boolean needed) {
        var byName = new TreeMap<String, Node>();
        try {
            objects(Kind.NODES, Node.class)
                    .forEach(node -> byName.put(node.getMetadata().getName(), node));
        } catch (NotAllowed e) {
            if (needed) {
                throw e;
            }
            noteLeftOut(e);
        }
        return byName;
    }

    private void noteLeftOut(NotAllowed e) {
        notes.add(e.getMessage() + "; nodes without our device plugin are left out");
    }

    private void noteOthers(List<Node> nodes) {
        for (String resource : OF_OTHERS) {
            String offering =
                    nodes.stream()
                            .filter(it ->
                                    ResourceReader.amounts(it.getStatus().getAllocatable())
                                                    .of(resource)
                                                    .signum()
                                            > 0)
                            .map(it -> it.getMetadata().getName())
                            .collect(joining(", "));
            if (!offering.isEmpty()) {
                notes.add(
                        "%s: GPUs are offered as %s; who has which is not known here"
                                .formatted(offering, resource));
            }
        }
    }

    /** Those that our scheduler has placed, granted or not. */
    private List<Pod> placed() {
        try {
            return cluster.ask(
                    "list",
                    Kind.PODS,
                    client ->
                            running(client.pods().inAnyNamespace().withLabel(Names.METERED_LABEL)));
        } catch (NotAllowed e) {
            notes.add(e.getMessage() + "; pods that are placed but have not started are left out");
            return List.of();
        }
    }

    private List<Host> annotated(List<Node> nodes, boolean needed) {
        if (nodes.isEmpty()) {
            return List.of();
        }
        List<Pod> pods;
        try {
            pods =
                    cluster.ask(
                            "list", Kind.PODS, client -> running(client.pods().inAnyNamespace()));
        } catch (NotAllowed e) {
            if (needed) {
                throw e;
            }
            noteLeftOut(e);
            return List.of();
        }
        List<Host> hosts = nodes.stream().map(node -> AnnotationReader.read(node, pods)).toList();
        new TreeMap<>(hosts.stream().collect(groupingBy(Host::source)))
                .forEach((source, those) ->
                        notes.add(
                                "%s: read from the annotations of %s on pods; model and health of the GPUs are not known"
                                        .formatted(
                                                those.stream()
                                                        .map(Host::node)
                                                        .collect(joining(", ")),
                                                source.writer())));
        return hosts;
    }

    private List<Pod> running(FilterWatchListDeletable<Pod, PodList, PodResource> pods) {
        return (name != null
                        ? pods.withField("spec.nodeName", name)
                        : pods.withoutField("status.phase", "Succeeded")
                                .withoutField("status.phase", "Failed"))
                .list()
                .getItems();
    }

    private <T extends HasMetadata> List<T> objects(Kind kind, Class<T> type) {
        if (name == null) {
            return cluster.ask("list", kind, client -> client.resources(type).list().getItems());
        }
        T one = cluster.ask("get", kind, client -> client.resources(type).withName(name).get());
        return one == null ? List.of() : List.of(one);
    }
}
