package io.gpusharing.sidecar.attribution;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What the device plugin gave a pod.
 *
 * @param containers those that hold GPUs
 */
record GrantedPod(String uid, String namespace, String pod, List<Container> containers) {

    /** When a container runs beside the pod's others. */
    enum Kind {
        App,
        NativeSidecar,
        Init
    }

    /** One container and what it was given. */
    record Container(Kind kind, List<Hold> holds) {}

    /**
     * A part of one GPU.
     *
     * @param uuid NVML's name of the GPU
     * @param cores hundredths of its processors; 0 where only memory was asked for
     * @param memory MiB
     * @param whole whether nobody else may hold any of it
     */
    record Hold(String uuid, long cores, long memory, boolean whole) {

        private Hold and(Hold other) {
            return new Hold(uuid, cores + other.cores, memory + other.memory, whole || other.whole);
        }

        private Hold orMore(Hold other) {
            return new Hold(
                    uuid,
                    Math.max(cores, other.cores),
                    Math.max(memory, other.memory),
                    whole || other.whole);
        }
    }

    /**
     * What the pod holds of each GPU, by its UUID: what those containers hold that run together, or
     * an init container beside the native sidecars if that is more. Init containers run one after
     * the other and before the others, mostly on the same GPU, so they do not add up.
     */
    Map<String, Hold> held() {
        Map<String, Hold> held = new HashMap<>();
        Map<String, Hold> sidecars = new HashMap<>();
        for (Container container : containers) {
            if (container.kind() != Kind.Init) {
                add(held, container);
            }
            if (container.kind() == Kind.NativeSidecar) {
                add(sidecars, container);
            }
        }
        for (Container container : containers) {
            if (container.kind() == Kind.Init) {
                Map<String, Hold> step = new HashMap<>(sidecars);
                add(step, container);
                step.forEach((uuid, hold) -> held.merge(uuid, hold, Hold::orMore));
            }
        }
        return held;
    }

    /**
     * Whether some container was given a part of a GPU and no memory of it in particular: it takes
     * what it finds, and nobody can say how much of the pod's memory is the others'.
     */
    boolean takesAnyMemory(String uuid) {
        return containers.stream()
                .flatMap(container -> container.holds().stream())
                .anyMatch(hold -> hold.uuid().equals(uuid) && hold.memory() == 0 && !hold.whole());
    }

    private static void add(Map<String, Hold> to, Container container) {
        container.holds().forEach(hold -> to.merge(hold.uuid(), hold, Hold::and));
    }
}
