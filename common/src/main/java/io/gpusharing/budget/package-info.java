/** What a budget of GPU time is, and what its standing is at an instant. */
@NullMarked
package io.gpusharing.budget;

import org.jspecify.annotations.NullMarked;
