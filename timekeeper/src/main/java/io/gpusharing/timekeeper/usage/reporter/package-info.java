/** Who reports: pod-bound tokens, verified by the keys of the cluster or by a TokenReview. */
@NullMarked
package io.gpusharing.timekeeper.usage.reporter;

import org.jspecify.annotations.NullMarked;
