@NullMarked
package io.gpusharing.tls;

import org.jspecify.annotations.NullMarked;
