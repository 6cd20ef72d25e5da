package io.gpusharing.deviceplugin.kubelet;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import com.google.protobuf.InvalidProtocolBufferException;
import io.gpusharing.deviceplugin.kubelet.api.CDIDevice;
import io.gpusharing.deviceplugin.kubelet.api.ContainerAllocateResponse;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The kubelet's own table of which container holds which devices, as it keeps it on disk: the only
 * place that names a pod by its UID, and init containers too. The format is the kubelet's affair
 * (version 2, since Kubernetes 1.20), so it is read strictly: what looks different is not believed.
 *
 * @param entries one for each container and resource
 * @param registered ids by resource, as the plugin offered them that registered it last
 */
public record Checkpoint(List<Entry> entries, Map<String, Set<String>> registered) {

    private static final Set<String> FIELDS =
            Set.of("PodUID", "ContainerName", "ResourceName", "DeviceIDs", "AllocResp");

    /**
     * What a container holds of one resource.
     *
     * @param podUid for a static pod the hash of its manifest, and not the UID that others see
     * @param cdiDevices the names that the plugin answered when these ids were allocated
     */
    public record Entry(
            String podUid,
            String container,
            String resource,
            Set<String> ids,
            List<String> cdiDevices) {}

    /**
     * Reads the file. One that is not there yet is an empty table: no plugin has ever registered.
     *
     * @throws IOException if it cannot be read, or is not what we know
     */
    public static Checkpoint read(Path file) throws IOException {
        try {
            return parse(Files.readString(file));
        } catch (NoSuchFileException e) {
            return new Checkpoint(List.of(), Map.of());
        } catch (JsonParseException
                | IllegalStateException
                | IllegalArgumentException
                | UnsupportedOperationException
                | InvalidProtocolBufferException e) {
            throw new IOException(
                    "%s is not a table of devices as kubelets 1.20 to 1.36 write it: %s"
                            .formatted(file, e.getMessage()),
                    e);
        }
    }

    private static Checkpoint parse(String text) throws InvalidProtocolBufferException {
        JsonObject data = member(JsonParser.parseString(text).getAsJsonObject(), "Data");
        var entries = new ArrayList<Entry>();
        // Null while nothing was ever allocated.
        if (data.get("PodDeviceEntries") instanceof JsonArray rows) {
            for (JsonElement row : rows) {
                entries.add(entry(row.getAsJsonObject()));
            }
        }
        var registered = new HashMap<String, Set<String>>();
        for (var resource : member(data, "RegisteredDevices").entrySet()) {
            registered.put(resource.getKey(), texts(resource.getValue()));
        }
        return new Checkpoint(List.copyOf(entries), Map.copyOf(registered));
    }

    private static Entry entry(JsonObject row) throws InvalidProtocolBufferException {
        if (!row.keySet().equals(FIELDS)) {
            throw new IllegalArgumentException("an entry has the fields " + row.keySet());
        }
        var ids = new HashSet<String>();
        for (var node : row.getAsJsonObject("DeviceIDs").entrySet()) {
            ids.addAll(texts(node.getValue()));
        }
        var answer =
                ContainerAllocateResponse.parseFrom(
                        Base64.getDecoder().decode(row.get("AllocResp").getAsString()));
        return new Entry(
                row.get("PodUID").getAsString(),
                row.get("ContainerName").getAsString(),
                row.get("ResourceName").getAsString(),
                Set.copyOf(ids),
                answer.getCdiDevicesList().stream().map(CDIDevice::getName).toList());
    }

    private static JsonObject member(JsonObject object, String name) {
        if (object.get(name) instanceof JsonObject member) {
            return member;
        }
        throw new IllegalArgumentException(name + " is missing");
    }

    private static Set<String> texts(JsonElement list) {
        var texts = new HashSet<String>();
        if (!list.isJsonNull()) {
            list.getAsJsonArray().forEach(text -> texts.add(text.getAsString()));
        }
        return texts;
    }

    /** Every container that holds one of these units, or all of them. */
    public List<Entry> holders(String resource, Set<String> ids) {
        return entries.stream()
                .filter(entry -> entry.resource().equals(resource))
                .filter(entry -> entry.ids().stream().anyMatch(ids::contains))
                .toList();
    }
}
