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

    /**
     * It cannot be pulled, for now.
     *
     * @param created when the pod was created
     */
    record Failing(UUID pod, Instant created, String image) implements Pull {}

    /**
     * It was pulled.
     *
     * @param started when the container began to run
     */
    record Done(String image, Instant started) implements Pull {}
}
