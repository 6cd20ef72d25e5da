/** What one program writes on objects of the cluster and another one reads: records alone. */
@NullMarked
package io.gpusharing.wire;

import org.jspecify.annotations.NullMarked;
