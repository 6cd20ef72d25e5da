/**
 * Shows who has the GPUs' memory, in the words of gpushare's own extender, so that programs which
 * ask that one can ask ours.
 */
@NullMarked
package io.gpusharing.scheduler.inspect;

import org.jspecify.annotations.NullMarked;
