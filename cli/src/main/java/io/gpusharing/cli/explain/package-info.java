/** Why a pod waits; whether one would fit, and what it would cost. */
@NullMarked
package io.gpusharing.cli.explain;

import org.jspecify.annotations.NullMarked;
