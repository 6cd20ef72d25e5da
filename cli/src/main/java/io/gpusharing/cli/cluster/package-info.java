/** Asks the API server that kubectl would ask, with the same login. */
@NullMarked
package io.gpusharing.cli.cluster;

import org.jspecify.annotations.NullMarked;
