/**
 * A real control plane that lives as long as the test or demo that started it, and the ways to talk
 * to it.
 */
@NullMarked
package io.gpusharing.e2e.cluster;

import org.jspecify.annotations.NullMarked;
