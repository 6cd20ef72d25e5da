package io.gpusharing.timekeeper.injection;

import java.time.Instant;
import java.util.UUID;

/**
 * What became of pulling the metering container's image for one pod. Exactly one of the two; a
 * container of which neither is known yet is none.
 */
sealed interface Pull {

    /**
     * The image that the container was injected with.
     *
     * @return as it stands in the pod
     */
    String image();

    /** Where it was tried. */
    Place place();

    /**
     * Where an image is pulled by the same credentials and for the same kind of machine.
     *
     * @param platform of the node, for instance {@code linux/arm64}; empty while it is not known
     */
    record Place(String namespace, String platform) {}

    /**
     * It cannot be pulled, for now.
     *
     * @param created when the pod was created
     * @param budget that its namespace draws on; empty if none
     * @param node where the pod is
     */
    record Failing(UUID pod, Instant created, String image, Place place, String budget, String node)
            implements Pull {}

    /**
     * It was pulled.
     *
     * @param started when the container began to run
     */
    record Done(String image, Place place, Instant started) implements Pull {}
}
