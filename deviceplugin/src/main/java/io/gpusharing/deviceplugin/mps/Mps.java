package io.gpusharing.deviceplugin.mps;

import com.google.gson.JsonObject;
import io.gpusharing.deviceplugin.cluster.NodePod;
import io.gpusharing.sharing.ContainerAsk;
import io.gpusharing.sharing.Sharing;
import io.gpusharing.sharing.Sharing.Way;
import io.gpusharing.wire.ContainerPlacement;
import io.gpusharing.wire.GpuHold;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/** Whether and how containers of this node share GPUs by MPS. */
public interface Mps {

    /** They do not: all take turns. */
    Mps NONE =
            new Mps() {
                @Override
                public Sharing sharing(NodePod pod, List<ContainerAsk> asks) {
                    return Sharing.TIME_SLICES;
                }

                @Override
                public Optional<Obstacle> obstacle(NodePod pod, String container, GpuHold hold) {
                    return hold.sharing().way() == Way.TimeSlices
                            ? Optional.empty()
                            : Optional.of(
                                    new Obstacle(
                                            "It was given its GPU to share by MPS, which this node does not serve any more; the pod has to be made anew",
                                            true));
                }

                @Override
                public void admit(NodePod pod, ContainerPlacement container, JsonObject edits) {}
            };

    /**
     * Why a container must not start now.
     *
     * @param isForEver whether it never may
     */
    record Obstacle(String reason, boolean isForEver) {}

    /** How a pod that has no GPU yet will share one. */
    Sharing sharing(NodePod pod, List<ContainerAsk> asks);

    /**
     * Brings a GPU into the mode that a container needs, and says what is still in the way. To be
     * asked again until there is nothing.
     *
     * @param hold what the container was given of the GPU
     * @throws IOException if what is wanted cannot be written down
     */
    Optional<Obstacle> obstacle(NodePod pod, String container, GpuHold hold) throws IOException;

    /** A container starts: adds what it needs to be a client. */
    void admit(NodePod pod, ContainerPlacement container, JsonObject edits) throws IOException;
}
