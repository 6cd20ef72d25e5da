/** Keeps the kube-scheduler beside us at the version of the API server. */
@NullMarked
package io.gpusharing.scheduler.version;

import org.jspecify.annotations.NullMarked;
