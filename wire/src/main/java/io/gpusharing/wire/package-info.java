/** What one program writes or asks and another one reads or answers: records alone. */
@NullMarked
package io.gpusharing.wire;

import org.jspecify.annotations.NullMarked;
