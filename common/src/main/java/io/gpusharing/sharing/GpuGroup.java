package io.gpusharing.sharing;

import io.gpusharing.Names;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Pods of one namespace that are to run on one physical GPU: all that carry the annotation {@code
 * request.gpusharing.io/same-gpu} with the same name. The first of them is placed like any other
 * pod, the others beside it; the group ends with its last pod.
 *
 * @param name up to 63 lower-case letters, digits and hyphens; it begins and ends with a letter or
 *     digit, as names of Kubernetes objects do (RFC 1123)
 */
public record GpuGroup(String namespace, String name) {

    private static final int LONGEST = 63;

    /**
     * The group of a pod; empty if it is in none. Where admission was passed by, an illegal name is
     * none, and a pod is in none of which not exactly one container asks for a part of one GPU.
     *
     * @param annotations the pod's; null if it has none
     * @param asks what its containers ask of GPUs
     */
    public static Optional<GpuGroup> of(
            String namespace, @Nullable Map<String, String> annotations, List<ContainerAsk> asks) {
        String name = annotations == null ? null : annotations.get(Names.SAME_GPU_ANNOTATION);
        return name == null || !isName(name) || asks.size() != 1 || asks.getFirst().ask().whole()
                ? Optional.empty()
                : Optional.of(new GpuGroup(namespace, name));
    }

    /** Whether a group can have this name. */
    public static boolean isName(String name) {
        return !name.isEmpty()
                && name.length() <= LONGEST
                && !name.startsWith("-")
                && !name.endsWith("-")
                && name.chars()
                        .allMatch(it ->
                                it == '-' || (it >= 'a' && it <= 'z') || (it >= '0' && it <= '9'));
    }
}
