/** The story that the demo tells and the tests hold us to: one newcomer, two teams, four GPUs. */
@NullMarked
package io.gpusharing.e2e.story;

import org.jspecify.annotations.NullMarked;
