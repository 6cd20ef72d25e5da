package io.gpusharing.sidecar.attribution;

import io.gpusharing.sidecar.attribution.Allocations.Grant;
import io.gpusharing.sidecar.json.Json;
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
public final class KubeletFiles {

    /** A pod's names. */
    public record PodName(String namespace, String pod) {}

    private final Path checkpoint;
    private final Path podLogs;
    private volatile Allocations allocations = Allocations.NONE;
    private volatile Map<String, PodName> names = Map.of();
    private volatile boolean readable;
    private @Nullable FileTime checkpointAt;

    /**
     * @param checkpoint {@code /var/lib/kubelet/device-plugins/kubelet_internal_checkpoint}
     * @param podLogs {@code /var/log/pods}
     */
    public KubeletFiles(Path checkpoint, Path podLogs) {
        this.checkpoint = checkpoint;
        this.podLogs = podLogs;
    }

    /** Reads what changed. Never fails: what cannot be read is as it was. */
    public void refresh() {
        refreshAllocations();
        refreshNames();
    }

    private void refreshAllocations() {
        try {
            FileTime changed = Files.getLastModifiedTime(checkpoint);
            if (!changed.equals(checkpointAt)) {
                allocations = Allocations.of(grants(Files.readString(checkpoint)));
                checkpointAt = changed;
            }
            readable = true;
        } catch (IOException | IllegalArgumentException e) {
            // Kubelet's own format, without a promise: what we cannot read changes nothing.
            checkpointAt = null;
            readable = false;
        }
    }

    static List<Grant> grants(String checkpoint) {
        List<Grant> grants = new ArrayList<>();
        if (Json.parseObject(checkpoint).get("Data") instanceof Map<?, ?> data
                && data.get("PodDeviceEntries") instanceof List<?> entries) {
            for (Object entry : entries) {
                if (entry instanceof Map<?, ?> grant
                        && grant.get("PodUID") instanceof String pod
                        && grant.get("ResourceName") instanceof String resource) {
                    grants.add(new Grant(pod, resource, ids(grant.get("DeviceIDs"))));
                }
            }
        }
        return grants;
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

    private void refreshNames() {
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
    public Allocations allocations() {
        return allocations;
    }

    /** Whether kubelet's table could be read, so that absence there means something. */
    public boolean isReadable() {
        return readable;
    }

    /** A pod's names, or null. */
    public @Nullable PodName name(String podUid) {
        return names.get(podUid);
    }

    /** Whether the directory of pod logs can be read, so that absence there means something. */
    boolean knowsPods() {
        return !names.isEmpty();
    }
}
