/**
 * How work runs in the background: {@link LeaderTask}, and the election of the replica that does
 * what only one needs to do. Bound to Spring's life cycle; what is Kubernetes' of it is in {@code
 * io.gpusharing.kubernetes}.
 */
@NullMarked
package io.gpusharing.timekeeper.leader;

import org.jspecify.annotations.NullMarked;
