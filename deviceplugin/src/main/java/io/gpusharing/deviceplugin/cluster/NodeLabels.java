package io.gpusharing.deviceplugin.cluster;

import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import io.gpusharing.Names;
import java.io.IOException;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The label that this plugin publishes on its Node: whether containers can reach GPUs that were not
 * given to them. Written by a thread of its own, until it is there, and only if it differs.
 */
public final class NodeLabels implements AutoCloseable {

    /** The label's name. */
    public static final String ISOLATION = Names.PREFIX + "isolation";

    private static final Logger log = LoggerFactory.getLogger(NodeLabels.class);

    /** Whether a container can reach GPUs that it was not given. */
    public enum Isolation {
        /** It can, by an environment variable of its own. */
        Open,
        /** It cannot. */
        Closed
    }

    private final KeptState<Optional<String>> label;

    /**
     * @param node whose label
     */
    public NodeLabels(ApiServer api, String node) {
        this(api, node, new Backoff());
    }

    NodeLabels(ApiServer api, String node, Backoff backoff) {
        this.label = new KeptState<>("node label", new Label(api, node), backoff, log);
    }

    /** The label says this from now on; empty: there is none. Returns at once. */
    public void isolation(Optional<Isolation> isolation) {
        label.want(() -> isolation.map(Isolation::name));
    }

    private record Label(ApiServer api, String node) implements KeptState.Place<Optional<String>> {

        @Override
        public Optional<String> read() throws IOException, InterruptedException {
            return Optional.ofNullable(NodeView.read(api, node).labels().get(ISOLATION));
        }

        @Override
        public void write(Optional<String> wanted) throws IOException, InterruptedException {
            var labels = new JsonObject();
            labels.add(
                    ISOLATION,
                    wanted.isPresent() ? new JsonPrimitive(wanted.get()) : JsonNull.INSTANCE);
            var metadata = new JsonObject();
            metadata.add("labels", labels);
            var node = new JsonObject();
            node.add("metadata", metadata);
            api.mergePatch(NodeView.path(this.node), node);
        }
    }

    @Override
    public void close() {
        label.close();
    }
}
