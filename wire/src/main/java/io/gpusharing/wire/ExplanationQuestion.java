package io.gpusharing.wire;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What somebody asks about the place of a pod, as the timekeeper passes it on to the scheduler:
 * exactly one of {@code pod} and {@code newPod}. The scheduler names pods to the user by what the
 * user may see, and so everything is here that the API server's authorizers go by.
 *
 * @param user who asks, as the API server knows them
 * @param uid of the user; empty if they have none
 * @param extra what else the user's token says, by its key
 * @param pod one that is there
 * @param newPod one that is not there: a Pod as JSON, with a UID and the instant of its creation as
 *     the API server would give it one
 * @param nodes how many nodes are shown with their GPUs, 0 to {@value #MOST_NODES}
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ExplanationQuestion(
        String user,
        String uid,
        List<String> groups,
        Map<String, List<String>> extra,
        @Nullable PodName pod,
        @Nullable String newPod,
        int nodes) {

    /** Many times what somebody looks at. */
    public static final int MOST_NODES = 50;

    /** The most bytes of a question. */
    public static final int MOST_BYTES = 64 * 1024;

    /** A pod that is there. */
    public record PodName(String namespace, String name) {}

    /**
     * @throws IllegalArgumentException if it asks about no pod or about two, or for too many nodes
     */
    public ExplanationQuestion {
        groups = List.copyOf(groups);
        extra = Map.copyOf(extra);
        if ((pod == null) == (newPod == null)) {
            throw new IllegalArgumentException("a question is about a pod or about a new one");
        }
        if (nodes < 0 || nodes > MOST_NODES) {
            throw new IllegalArgumentException(
                    "nodes is from 0 to %d, not %d".formatted(MOST_NODES, nodes));
        }
    }
}
