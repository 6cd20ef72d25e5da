/** What the container runtime's configuration on this node lets containers reach. */
@NullMarked
package io.gpusharing.deviceplugin.runtime;

import org.jspecify.annotations.NullMarked;
