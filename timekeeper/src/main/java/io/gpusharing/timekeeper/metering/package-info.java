/** From when to when a pod holds which share of a GPU. Pure: values in, values out. */
@NullMarked
package io.gpusharing.timekeeper.metering;

import org.jspecify.annotations.NullMarked;
