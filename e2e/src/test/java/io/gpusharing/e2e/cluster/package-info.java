@NullMarked
package io.gpusharing.e2e.cluster;

import org.jspecify.annotations.NullMarked;
