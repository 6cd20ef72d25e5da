@NullMarked
package io.gpusharing.e2e.story;

import org.jspecify.annotations.NullMarked;
