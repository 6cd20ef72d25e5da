/** Which GPUs nodes have, and who has which. */
@NullMarked
package io.gpusharing.cli.inspect;

import org.jspecify.annotations.NullMarked;
