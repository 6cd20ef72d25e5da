/** The certificate that reports and questions are received under. */
@NullMarked
package io.gpusharing.timekeeper.tls;

import org.jspecify.annotations.NullMarked;
