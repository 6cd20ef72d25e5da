/** Our own certificates: one authority for all replicas, a leaf in memory for each. */
@NullMarked
package io.gpusharing.webhook.tls;

import org.jspecify.annotations.NullMarked;
