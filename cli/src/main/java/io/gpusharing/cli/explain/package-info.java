/** Why a pod waits, and whether one would fit. */
@NullMarked
package io.gpusharing.cli.explain;

import org.jspecify.annotations.NullMarked;
