/** Files of the node that others read while we write them. */
@NullMarked
package io.gpusharing.deviceplugin.disk;

import org.jspecify.annotations.NullMarked;
