/**
 * The resources by which people ask for fractions: {@link Dialect} says what each is worth on a
 * GPU, {@link UnitIds} names its units.
 */
@NullMarked
package io.gpusharing.deviceplugin.dialect;

import org.jspecify.annotations.NullMarked;
