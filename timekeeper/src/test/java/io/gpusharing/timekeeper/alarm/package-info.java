/** Work that nobody asks for. */
@NullMarked
package io.gpusharing.timekeeper.alarm;

import org.jspecify.annotations.NullMarked;
