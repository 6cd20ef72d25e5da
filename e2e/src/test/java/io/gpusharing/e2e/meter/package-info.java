@NullMarked
package io.gpusharing.e2e.meter;

import org.jspecify.annotations.NullMarked;
