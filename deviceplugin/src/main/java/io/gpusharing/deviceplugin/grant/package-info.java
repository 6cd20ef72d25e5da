/**
 * Who holds what of which physical GPU: {@link io.gpusharing.placement.PodPlacement} decides it
 * once for each pod, pure; {@link io.gpusharing.deviceplugin.grant.Grants} remembers it.
 */
@NullMarked
package io.gpusharing.deviceplugin.grant;

import org.jspecify.annotations.NullMarked;
