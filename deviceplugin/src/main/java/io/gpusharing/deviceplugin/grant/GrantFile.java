package io.gpusharing.deviceplugin.grant;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import io.gpusharing.deviceplugin.disk.StateFile;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.sharing.Sharing;
import io.gpusharing.wire.ContainerPlacement;
import io.gpusharing.wire.GpuHold;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The grants of this node on its disk, as JSON: they outlive this program and the machine, and the
 * node agent reads them.
 *
 * @param path the file
 */
public record GrantFile(Path path) {

    private static final int VERSION = 1;

    /**
     * All grants; none if there is no file.
     *
     * @throws IOException if there is one that cannot be understood
     */
    List<PodGrant> read() throws IOException {
        try {
            return file().read(GrantFile::pods).orElse(List.of());
        } catch (IOException e) {
            throw new IOException(
                    e.getMessage()
                            + ". Who holds which GPU is not known: drain the node, then remove the file",
                    e);
        }
    }

    void write(List<PodGrant> grants) throws IOException {
        var pods = new JsonArray();
        grants.forEach(grant -> pods.add(json(grant)));
        var content = new JsonObject();
        content.add("pods", pods);
        // The node agent, which reads it, is not root.
        file().write(content, "rw-r--r--");
    }

    private StateFile file() {
        return new StateFile(path, VERSION);
    }

    private static List<PodGrant> pods(JsonObject content) {
        var grants = new ArrayList<PodGrant>();
        for (JsonElement pod : content.getAsJsonArray("pods")) {
            grants.add(pod(pod.getAsJsonObject()));
        }
        return grants;
    }

    private static PodGrant pod(JsonObject pod) {
        var containers = new ArrayList<ContainerPlacement>();
        for (JsonElement each : pod.getAsJsonArray("containers")) {
            JsonObject container = each.getAsJsonObject();
            var holds = new ArrayList<GpuHold>();
            for (JsonElement gpu : container.getAsJsonArray("gpus")) {
                JsonObject hold = gpu.getAsJsonObject();
                holds.add(
                        new GpuHold(
                                hold.get("uuid").getAsString(),
                                hold.get("core").getAsLong(),
                                hold.get("memoryMiB").getAsLong(),
                                hold.get("whole").getAsBoolean(),
                                Sharing.inDomain(
                                        hold.has("domain")
                                                ? hold.get("domain").getAsString()
                                                : null)));
            }
            containers.add(
                    new ContainerPlacement(
                            container.get("name").getAsString(),
                            Kind.valueOf(container.get("kind").getAsString()),
                            holds));
        }
        return new PodGrant(
                pod.get("uid").getAsString(),
                pod.get("namespace").getAsString(),
                pod.get("name").getAsString(),
                containers);
    }

    private static JsonObject json(PodGrant grant) {
        var containers = new JsonArray();
        for (ContainerPlacement each : grant.containers()) {
            var gpus = new JsonArray();
            for (GpuHold hold : each.gpus()) {
                var gpu = new JsonObject();
                gpu.addProperty("uuid", hold.gpu());
                gpu.addProperty("core", hold.cores());
                gpu.addProperty("memoryMiB", hold.memory());
                gpu.addProperty("whole", hold.whole());
                hold.sharing().trusted().ifPresent(it -> gpu.addProperty("domain", it));
                gpus.add(gpu);
            }
            var container = new JsonObject();
            container.addProperty("name", each.container());
            container.addProperty("kind", each.kind().name());
            container.add("gpus", gpus);
            containers.add(container);
        }
        var pod = new JsonObject();
        pod.addProperty("uid", grant.uid());
        pod.addProperty("namespace", grant.namespace());
        pod.addProperty("name", grant.pod());
        pod.add("containers", containers);
        return pod;
    }
}
