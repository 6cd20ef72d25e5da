package io.gpusharing.deviceplugin.start;

import io.gpusharing.deviceplugin.cluster.NodePod;
import io.gpusharing.deviceplugin.kubelet.Checkpoint;
import io.gpusharing.deviceplugin.kubelet.Checkpoint.Entry;
import io.gpusharing.deviceplugin.kubelet.DeviceResource.StartRefused;
import io.gpusharing.deviceplugin.kubelet.PodResources.Holder;
import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.ContainerRequest.Kind;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Whose container is about to start: the kubelet tells the units alone. Its table on disk says
 * which pod has them, its API must not say otherwise; neither is believed against the other.
 */
public final class UnitHolders {

    /** The API follows the table within a moment. */
    private static final Duration FOR_THE_API = Duration.ofSeconds(2);

    /** Reads the kubelet's table. */
    public interface Table {
        Checkpoint read() throws IOException;
    }

    /** Asks the kubelet's API. */
    public interface Api {
        List<Holder> list() throws IOException;
    }

    private final Table table;
    private final Api api;
    private final Pacing pacing;

    UnitHolders(Table table, Api api, Pacing pacing) {
        this.table = table;
        this.api = api;
        this.pacing = pacing;
    }

    /**
     * Containers of one pod that have exactly these units of a resource: an init container and a
     * later one may have the same, and then either may be about to start.
     */
    List<Entry> find(String resource, Set<String> units) throws StartRefused {
        List<Entry> holders;
        try {
            holders = table.read().holders(resource, units);
        } catch (IOException e) {
            throw new StartRefused("Whose units these are cannot be read: " + e.getMessage());
        }
        Set<String> pods = holders.stream().map(Entry::podUid).collect(Collectors.toSet());
        if (pods.size() > 1) {
            throw new StartRefused(
                    "The kubelet gave the same units of %s to pods %s; none of them starts. Delete all but one"
                            .formatted(
                                    resource,
                                    String.join(" and ", pods.stream().sorted().toList())));
        }
        List<Entry> exactly =
                holders.stream().filter(holder -> holder.ids().equals(units)).toList();
        if (exactly.isEmpty()) {
            throw new StartRefused(
                    "The kubelet's table names no container with exactly these %d units of %s"
                            .formatted(units.size(), resource));
        }
        return exactly;
    }

    /** Refuses unless the kubelet's API agrees that the units are this pod's. */
    void confirm(NodePod pod, String resource, List<Entry> entries)
            throws StartRefused, InterruptedException {
        Pacing.Deadline deadline = pacing.deadline(FOR_THE_API);
        while (!isConfirmed(pod, resource, entries)) {
            if (deadline.isOver()) {
                throw new StartRefused(
                        "The kubelet's table gives %s to pod %s/%s, its API does not"
                                .formatted(resource, pod.namespace(), pod.name()));
            }
            pacing.pause();
        }
    }

    private boolean isConfirmed(NodePod pod, String resource, List<Entry> entries)
            throws StartRefused {
        List<Holder> holders;
        try {
            holders = api.list();
        } catch (IOException e) {
            throw new StartRefused(
                    "The kubelet does not say whose units these are: " + e.getMessage());
        }
        for (Entry entry : entries) {
            for (Holder holder : holders) {
                if (holder.resource().equals(resource)
                        && holder.ids().stream().anyMatch(entry.ids()::contains)
                        && !isOf(pod, holder)) {
                    throw new StartRefused(
                            "The kubelet's table gives units of %s to pod %s/%s, its API to %s/%s"
                                    .formatted(
                                            resource,
                                            pod.namespace(),
                                            pod.name(),
                                            holder.namespace(),
                                            holder.pod()));
                }
            }
        }
        // Of ordinary init containers the API says nothing.
        Set<String> named =
                holders.stream()
                        .filter(holder -> isOf(pod, holder) && holder.resource().equals(resource))
                        .map(Holder::container)
                        .collect(Collectors.toSet());
        return beside(pod, entries).allMatch(named::contains);
    }

    private static Stream<String> beside(NodePod pod, List<Entry> entries) {
        return pod.request().containers().stream()
                .filter(container -> container.kind() != Kind.Init)
                .map(ContainerRequest::name)
                .filter(name -> entries.stream().anyMatch(it -> it.container().equals(name)));
    }

    private static boolean isOf(NodePod pod, Holder holder) {
        return holder.namespace().equals(pod.namespace()) && holder.pod().equals(pod.name());
    }
}
