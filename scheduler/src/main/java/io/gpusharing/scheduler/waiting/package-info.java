/** Lets kube-scheduler try pods again for which there is room by now. */
@NullMarked
package io.gpusharing.scheduler.waiting;

import org.jspecify.annotations.NullMarked;
