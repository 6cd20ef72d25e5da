package io.gpusharing.deviceplugin.kubelet;

import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One resource of the node, as its kubelet asks for it. All answers but {@link #prepare} come at
 * once: a kubelet that waits in Allocate may give the same ids to two pods.
 */
public interface DeviceResource {

    /**
     * One unit of the resource. Which one a pod gets means nothing; how many, everything.
     *
     * @param numaNode of its GPU, null where it is not known
     */
    record Device(String id, boolean healthy, @Nullable Integer numaNode) {}

    /** The resource's name, for instance {@code tencent.com/vcuda-core}. */
    String name();

    /** All units, now. */
    List<Device> devices();

    /**
     * Which units a container should get.
     *
     * @param available ids that are free
     * @param needed ids that it gets in any case, a part of the available ones
     * @param size how many it gets in all
     */
    List<String> preferred(List<String> available, List<String> needed, int size);

    /**
     * Called once, when the container's pod is admitted.
     *
     * @return names of CDI devices that the container is created with; none if this resource only
     *     counts
     */
    List<String> allocate(List<String> ids);

    /** Whether {@link #prepare} is called. */
    boolean decides();

    /**
     * Called before each start of a container that holds these units. May take seconds.
     *
     * @throws StartRefused the container does not start; the kubelet tries again
     */
    void prepare(Set<String> ids) throws StartRefused;

    /** A container must not start now. The message goes into an Event of its pod. */
    final class StartRefused extends Exception {

        private final boolean isFinal;

        /** A later try may succeed. */
        public StartRefused(String message) {
            this(message, false);
        }

        private StartRefused(String message, boolean isFinal) {
            super(message);
            this.isFinal = isFinal;
        }

        /** No later try of this pod on this node will succeed. */
        public static StartRefused forEver(String message) {
            return new StartRefused(message, true);
        }

        /** Whether no later try of this pod on this node will succeed. */
        public boolean isFinal() {
            return isFinal;
        }
    }
}
