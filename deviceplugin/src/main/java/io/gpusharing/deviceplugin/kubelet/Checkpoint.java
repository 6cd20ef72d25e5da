package io.gpusharing.deviceplugin.kubelet;

import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import com.google.gson.stream.MalformedJsonException;
import com.google.protobuf.InvalidProtocolBufferException;
import io.gpusharing.deviceplugin.kubelet.api.CDIDevice;
import io.gpusharing.deviceplugin.kubelet.api.ContainerAllocateResponse;
import java.io.EOFException;
import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The kubelet's own table of which container holds which devices, as it keeps it on disk: the only
 * place that names a pod by its UID, and init containers too. The format is the kubelet's affair
 * (version 2, since Kubernetes 1.20), so it is read strictly: what looks different is not believed.
 *
 * @param entries one for each container and resource
 * @param registered ids by resource, as the plugin offered them that registered it last
 */
public record Checkpoint(List<Entry> entries, Map<String, Set<String>> registered) {

    /** Of an entry, besides its ids. */
    private static final Set<String> FIELDS =
            Set.of("PodUID", "ContainerName", "ResourceName", "AllocResp");

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
            return parse(new JsonReader(new StringReader(Files.readString(file))));
        } catch (NoSuchFileException e) {
            return new Checkpoint(List.of(), Map.of());
        } catch (MalformedJsonException
                | EOFException
                | IllegalStateException
                | IllegalArgumentException
                | InvalidProtocolBufferException e) {
            throw new IOException(
                    "%s is not a table of devices as kubelets 1.20 to 1.36 write it: %s"
                            .formatted(file, e.getMessage()),
                    e);
        }
    }

    private static Checkpoint parse(JsonReader json) throws IOException {
        Checkpoint data = null;
        json.beginObject();
        while (json.hasNext()) {
            if (json.nextName().equals("Data")) {
                data = data(json);
            } else {
                json.skipValue();
            }
        }
        json.endObject();
        if (json.peek() != JsonToken.END_DOCUMENT) {
            throw new IllegalArgumentException("something follows it");
        }
        return wanted(data, "Data");
    }

    private static Checkpoint data(JsonReader json) throws IOException {
        List<Entry> entries = List.of();
        Map<String, Set<String>> registered = null;
        json.beginObject();
        while (json.hasNext()) {
            switch (json.nextName()) {
                case "PodDeviceEntries" -> entries = entries(json);
                case "RegisteredDevices" -> registered = textsByName(json);
                default -> json.skipValue();
            }
        }
        json.endObject();
        return new Checkpoint(entries, Map.copyOf(wanted(registered, "RegisteredDevices")));
    }

    private static List<Entry> entries(JsonReader json) throws IOException {
        // Null while nothing was ever allocated.
        if (isNull(json)) {
            return List.of();
        }
        var entries = new ArrayList<Entry>();
        json.beginArray();
        while (json.hasNext()) {
            entries.add(entry(json));
        }
        json.endArray();
        return List.copyOf(entries);
    }

    private static Entry entry(JsonReader json) throws IOException {
        var texts = new HashMap<String, String>();
        Set<String> ids = null;
        json.beginObject();
        while (json.hasNext()) {
            String name = json.nextName();
            if (name.equals("DeviceIDs")) {
                ids = new HashSet<>();
                textsByName(json).values().forEach(ids::addAll);
            } else if (FIELDS.contains(name)) {
                texts.put(name, json.nextString());
            } else {
                throw new IllegalArgumentException("an entry has the field " + name);
            }
        }
        json.endObject();
        var answer =
                ContainerAllocateResponse.parseFrom(
                        Base64.getDecoder().decode(wanted(texts.get("AllocResp"), "AllocResp")));
        return new Entry(
                wanted(texts.get("PodUID"), "PodUID"),
                wanted(texts.get("ContainerName"), "ContainerName"),
                wanted(texts.get("ResourceName"), "ResourceName"),
                Set.copyOf(wanted(ids, "DeviceIDs")),
                answer.getCdiDevicesList().stream().map(CDIDevice::getName).toList());
    }

    /** Ids by NUMA node, or by resource. */
    private static Map<String, Set<String>> textsByName(JsonReader json) throws IOException {
        var all = new HashMap<String, Set<String>>();
        json.beginObject();
        while (json.hasNext()) {
            all.put(json.nextName(), texts(json));
        }
        json.endObject();
        return all;
    }

    private static Set<String> texts(JsonReader json) throws IOException {
        if (isNull(json)) {
            return Set.of();
        }
        var texts = new HashSet<String>();
        json.beginArray();
        while (json.hasNext()) {
            texts.add(json.nextString());
        }
        json.endArray();
        return Collections.unmodifiableSet(texts);
    }

    private static boolean isNull(JsonReader json) throws IOException {
        if (json.peek() != JsonToken.NULL) {
            return false;
        }
        json.nextNull();
        return true;
    }

    private static <T> T wanted(@Nullable T value, String name) {
        if (value == null) {
            throw new IllegalArgumentException(name + " is missing");
        }
        return value;
    }

    /** Every container that holds one of these units, or all of them. */
    public List<Entry> holders(String resource, Set<String> ids) {
        return entries.stream()
                .filter(entry -> entry.resource().equals(resource))
                .filter(entry -> entry.ids().stream().anyMatch(ids::contains))
                .toList();
    }
}
