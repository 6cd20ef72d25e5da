/** The story that the demo shows and the tests check: one newcomer, two teams, four GPUs. */
@NullMarked
package io.gpusharing.e2e.story;

import org.jspecify.annotations.NullMarked;
