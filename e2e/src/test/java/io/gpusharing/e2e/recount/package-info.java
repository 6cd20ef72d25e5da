@NullMarked
package io.gpusharing.e2e.recount;

import org.jspecify.annotations.NullMarked;
