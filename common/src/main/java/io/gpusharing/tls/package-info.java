/** Certificates made at run time: nothing secret is shipped, and nothing has to be made by hand. */
@NullMarked
package io.gpusharing.tls;

import org.jspecify.annotations.NullMarked;
