/** Certificates of clients, made by the test that shows them. */
@NullMarked
package io.gpusharing.web.testing;

import org.jspecify.annotations.NullMarked;
