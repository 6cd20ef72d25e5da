package io.gpusharing.deviceplugin.cluster;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.net.HttpURLConnection;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The ConfigMap {@value #NAME}: while it is there, policies refuse what they otherwise warn of,
 * because GPUs of this cluster are shared. Every device plugin writes the same, once its GpuNode is
 * there, and nobody takes it away: an administrator deletes it when no node is ours any more.
 */
public final class SharedConfigMap implements AutoCloseable {

    /** Its name. The plugin's Role and the bindings of the policies have it, too. */
    static final String NAME = "gpusharing-shared";

    private static final Logger log = LoggerFactory.getLogger(SharedConfigMap.class);

    private final KeptState<Boolean> present;

    /**
     * @param namespace where the plugin runs
     */
    public SharedConfigMap(ApiServer api, String namespace) {
        this(api, namespace, new Backoff());
    }

    SharedConfigMap(ApiServer api, String namespace, Backoff backoff) {
        this.present = new KeptState<>("shared config map", new Kept(api, namespace), backoff, log);
    }

    /** It is there from now on. Returns at once, and may be said often. */
    public void write() {
        present.want(() -> true);
    }

    /** Looks soon whether it is still there, as it does now and then. */
    void look() {
        present.look();
    }

    private record Kept(ApiServer api, String namespace) implements KeptState.Place<Boolean> {

        @Override
        public @Nullable Boolean read() throws IOException, InterruptedException {
            try {
                return api.get(path(), JsonParser::parseReader).isJsonObject();
            } catch (ApiException e) {
                if (e.status() == HttpURLConnection.HTTP_NOT_FOUND) {
                    return null;
                }
                throw e;
            }
        }

        @Override
        public void write(Boolean wanted) throws IOException, InterruptedException {
            var metadata = new JsonObject();
            metadata.addProperty("name", NAME);
            var labels = new JsonObject();
            labels.addProperty("app.kubernetes.io/name", "gpusharing");
            labels.addProperty("app.kubernetes.io/part-of", "gpusharing");
            metadata.add("labels", labels);
            var data = new JsonObject();
            data.addProperty(
                    "about",
                    "GPUs of this cluster are shared: pods that reach for GPUs without asking for one are refused."
                            + " Delete this when no node has the label gpusharing.io/gpus any more.");
            var object = new JsonObject();
            object.addProperty("apiVersion", "v1");
            object.addProperty("kind", "ConfigMap");
            object.add("metadata", metadata);
            object.add("data", data);
            api.apply(path(), object);
        }

        private String path() {
            return "/api/v1/namespaces/%s/configmaps/%s".formatted(namespace, NAME);
        }
    }

    @Override
    public void close() {
        present.close();
    }
}
