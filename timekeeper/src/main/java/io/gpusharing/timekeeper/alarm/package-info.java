/** When work is done that nobody asks for over the network. */
@NullMarked
package io.gpusharing.timekeeper.alarm;

import org.jspecify.annotations.NullMarked;
