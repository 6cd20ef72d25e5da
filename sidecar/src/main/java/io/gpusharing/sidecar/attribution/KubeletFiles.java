package io.gpusharing.sidecar.attribution;

import io.gpusharing.sidecar.attribution.Allocations.Entry;
import io.gpusharing.sidecar.json.Json;
import io.gpusharing.sidecar.usage.PodName;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What kubelet leaves on a node's disk: the checkpoint of its device manager (which pod holds which
 * device) and one directory of logs per pod (its name). Both are read again when they changed, and
 * neither is needed: without them pods have no names and GPUs no sole owners.
 */
final class KubeletFiles {

    private final Path checkpoint;
    private final Path podLogs;
    private final GpuResources gpus;
    private volatile Allocations allocations = Allocations.NONE;
    private volatile Map<String, PodName> names = Map.of();
    private volatile boolean readable;
    private @Nullable FileTime checkpointAt;

    /**
     * @param checkpoint {@code /var/lib/kubelet/device-plugins/kubelet_internal_checkpoint}
     * @param podLogs {@code /var/log/pods}
     */
    KubeletFiles(Path checkpoint, Path podLogs, GpuResources gpus) {
        this.checkpoint = checkpoint;
        this.podLogs = podLogs;
        this.gpus = gpus;
    }

    /**
     * Reads the checkpoint if it changed. Never fails: what cannot be read is as it was.
     *
     * @return whether the allocations are others now
     */
    boolean refreshAllocations() {
        boolean isNew = false;
        try {
            FileTime changed = Files.getLastModifiedTime(checkpoint);
            isNew = !changed.equals(checkpointAt);
            if (isNew) {
                allocations = Allocations.of(entries(Files.readString(checkpoint), gpus));
                checkpointAt = changed;
            }
            readable = true;
        } catch (IOException | IllegalArgumentException e) {
            // Kubelet's own format, without a promise: what we cannot read changes nothing.
            checkpointAt = null;
            readable = false;
        }
        return isNew;
    }

    /** Its lines about GPUs. */
    static List<Entry> entries(String checkpoint, GpuResources gpus) {
        List<Entry> table = new ArrayList<>();
        if (Json.parseObject(checkpoint).get("Data") instanceof Map<?, ?> data
                && data.get("PodDeviceEntries") instanceof List<?> entries) {
            for (Object each : entries) {
                if (each instanceof Map<?, ?> entry
                        && entry.get("PodUID") instanceof String pod
                        && entry.get("ResourceName") instanceof String resource
                        && gpus.contain(resource)) {
                    table.add(new Entry(pod, resource, ids(entry.get("DeviceIDs"))));
                }
            }
        }
        return table;
    }

    /** Device ids stand in one list, or since Kubernetes 1.20 in one list per NUMA node. */
    private static List<String> ids(@Nullable Object value) {
        List<String> ids = new ArrayList<>();
        switch (value) {
            case Map<?, ?> nodes -> nodes.values().forEach(list -> ids.addAll(ids(list)));
            case List<?> list -> list.forEach(id -> ids.add(String.valueOf(id)));
            case null, default -> {}
        }
        return ids;
    }

    /** Reads the pods' names. */
    void refreshNames() {
        Map<String, PodName> found = new HashMap<>();
        try (DirectoryStream<Path> pods = Files.newDirectoryStream(podLogs)) {
            for (Path pod : pods) {
                // namespace_name_uid: none of the three can hold an underscore.
                String[] parts = pod.getFileName().toString().split("_", -1);
                if (parts.length == 3) {
                    found.put(parts[2], new PodName(parts[0], parts[1]));
                }
            }
            names = Map.copyOf(found);
        } catch (IOException | DirectoryIteratorException e) {
            names = Map.of();
        }
    }

    /** Which pod holds which device, as far as kubelet wrote it down. */
    Allocations allocations() {
        return allocations;
    }

    /** Whether kubelet's table could be read, so that absence there means something. */
    boolean isReadable() {
        return readable;
    }

    /** A pod's names, or null. */
    @Nullable PodName name(String podUid) {
        return names.get(podUid);
    }

    /** Whether the directory of pod logs can be read, so that absence there means something. */
    boolean knowsPods() {
        return !names.isEmpty();
    }
}
