/**
 * What happens before a container with GPUs starts: {@link
 * io.gpusharing.deviceplugin.start.ContainerStarts} is the order of it.
 */
@NullMarked
package io.gpusharing.deviceplugin.start;

import org.jspecify.annotations.NullMarked;
