package io.gpusharing.deviceplugin.cluster;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.gpusharing.Names;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes the {@code GpuNode} of this node: one object with the node's name that goes when the
 * node goes. The latest status is written until it is there, by a thread of its own, and only if it
 * differs from what is there.
 *
 * <p>By merge patch rather than server-side apply: nobody else writes the status, a list is
 * replaced as a whole either way, and an apply fails as a whole where an older definition lacks one
 * of its fields.
 */
public final class GpuNodePublisher implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(GpuNodePublisher.class);

    private static final String API_VERSION = Names.PREFIX + "v1alpha1";
    private static final String ALL = "/apis/" + API_VERSION + "/gpunodes";

    private final KeptState<JsonObject> status;

    /**
     * @param node whose GPUs
     * @param exists called when the object is there, now and then again; returns at once
     */
    public GpuNodePublisher(ApiServer api, String node, Runnable exists) {
        this(api, node, exists, new Backoff());
    }

    GpuNodePublisher(ApiServer api, String node, Runnable exists, Backoff backoff) {
        this.status = new KeptState<>("gpu node", new GpuNode(api, node, exists), backoff, log);
    }

    /** The status is this from now on. Returns at once; it is asked when there is time for it. */
    public void publish(Supplier<GpuNodeStatus> latest) {
        status.want(() -> latest.get().json());
    }

    /** Looks soon whether it is still there, as it does now and then. */
    void look() {
        status.look();
    }

    private record GpuNode(ApiServer api, String name, Runnable exists)
            implements KeptState.Place<JsonObject> {

        /** Its status; the object is there afterwards, and belongs to the node. */
        @Override
        public @Nullable JsonObject read() throws IOException, InterruptedException {
            JsonArray owners = owners(NodeView.read(api, name).uid());
            JsonObject found;
            try {
                found = api.get(path(), JsonParser::parseReader).getAsJsonObject();
            } catch (ApiException e) {
                if (e.status() != HttpURLConnection.HTTP_NOT_FOUND) {
                    throw e;
                }
                create(owners);
                exists.run();
                return null;
            }
            exists.run();
            JsonObject metadata = found.getAsJsonObject("metadata");
            if (!owners.equals(metadata.get("ownerReferences"))) {
                // Made for a node of this name that is gone, and it would soon be gone as well.
                api.mergePatch(path(), object(owners));
            }
            JsonElement status = found.get("status");
            return status instanceof JsonObject published ? published : null;
        }

        @Override
        public void write(JsonObject status) throws IOException, InterruptedException {
            var object = new JsonObject();
            object.add("status", status);
            api.mergePatch(path() + "/status", object);
        }

        private void create(JsonArray owners) throws IOException, InterruptedException {
            JsonObject object = object(owners);
            object.addProperty("apiVersion", API_VERSION);
            object.addProperty("kind", "GpuNode");
            object.getAsJsonObject("metadata").addProperty("name", name);
            try {
                api.post(ALL, object);
            } catch (ApiException e) {
                // Created by a request whose answer did not arrive.
                if (e.status() != HttpURLConnection.HTTP_CONFLICT) {
                    throw e;
                }
            }
        }

        private static JsonObject object(JsonArray owners) {
            var metadata = new JsonObject();
            metadata.add("ownerReferences", owners);
            var object = new JsonObject();
            object.add("metadata", metadata);
            return object;
        }

        private JsonArray owners(String uid) {
            var owner = new JsonObject();
            owner.addProperty("apiVersion", "v1");
            owner.addProperty("kind", "Node");
            owner.addProperty("name", name);
            owner.addProperty("uid", uid);
            var owners = new JsonArray();
            owners.add(owner);
            return owners;
        }

        private String path() {
            return ALL + "/" + name;
        }
    }

    @Override
    public void close() {
        status.close();
    }
}
