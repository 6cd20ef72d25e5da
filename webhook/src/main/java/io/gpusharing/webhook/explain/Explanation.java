package io.gpusharing.webhook.explain;

import io.gpusharing.request.GpuShare;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What would be said to one pod.
 *
 * @param verdict in one line
 * @param accepted whether the pod would pass
 * @param share what it holds, in micro-GPUs; none if it is refused or not ours
 * @param estimated what of the share depends on the node; empty if nothing does
 * @param orMore whether what is estimated may turn out larger; smaller otherwise
 * @param warnings shown to who creates it
 * @param patch JSON Patch; null if nothing would be changed
 */
// Read once by who prints it, compared by nobody.
@SuppressWarnings("ArrayRecordComponent")
public record Explanation(
        String verdict,
        boolean accepted,
        GpuShare share,
        String estimated,
        boolean orMore,
        List<String> warnings,
        byte @Nullable [] patch) {}
