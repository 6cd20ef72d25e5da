/** What is added to a pod: annotations, class, and the container that meters it. */
@NullMarked
package io.gpusharing.webhook.injection;

import org.jspecify.annotations.NullMarked;
