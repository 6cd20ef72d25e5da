package io.gpusharing.deviceplugin.cluster;

import io.gpusharing.request.PodRequest;
import java.time.Instant;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A pod of this node, as the API server has it.
 *
 * @param isStatic whether it is the mirror of a static pod; the kubelet knows that one by another
 *     UID
 * @param ended whether it has succeeded or failed, so that none of its containers will run again
 * @param deletion when and how it is to end, and none of its containers starts any more; null while
 *     nobody has deleted it
 * @param request what its containers ask for of extended resources; without those that ask for none
 * @param annotations those of ours
 * @param running the IDs of those containers that run, by name
 * @param ipc what its containers share of interprocess communication
 */
public record NodePod(
        String uid,
        String namespace,
        String name,
        boolean isStatic,
        boolean ended,
        @Nullable Deletion deletion,
        PodRequest request,
        Map<String, String> annotations,
        Map<String, String> running,
        Ipc ipc) {

    /**
     * How a pod is to end.
     *
     * @param end when it is to have ended, by the API server's clock
     * @param graceSeconds how long it has for it
     */
    public record Deletion(Instant end, long graceSeconds) {}

    /**
     * How containers talk to other processes.
     *
     * @param host whether they are in the node's namespace
     * @param ownSharedMemory names of those with a volume of their own at {@code /dev/shm}
     */
    public record Ipc(boolean host, Set<String> ownSharedMemory) {

        /** As by default. */
        public static final Ipc USUAL = new Ipc(false, Set.of());

        public Ipc {
            ownSharedMemory = Set.copyOf(ownSharedMemory);
        }
    }

    public NodePod {
        annotations = Map.copyOf(annotations);
        running = Map.copyOf(running);
    }

    /** Whether it is to end. */
    public boolean deleting() {
        return deletion != null;
    }
}
