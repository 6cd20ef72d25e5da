/** What a meter has counted, as reports and metrics have it. */
@NullMarked
package io.gpusharing.sidecar.usage;

import org.jspecify.annotations.NullMarked;
