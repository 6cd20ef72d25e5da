@NullMarked
package io.gpusharing.e2e.poison;

import org.jspecify.annotations.NullMarked;
