package io.gpusharing.timekeeper.usage.reporter;

import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Who reports, as the API server signed it.
 *
 * @param serviceAccount {@code namespace/name}
 * @param pod the pod that the token is bound to
 * @param node the node that the pod ran on when the token was issued; null if the token does not
 *     say
 */
public record Reporter(
        String serviceAccount, String namespace, String podName, UUID pod, @Nullable String node) {}
