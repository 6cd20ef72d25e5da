/** What a command prints, and how. */
@NullMarked
package io.gpusharing.cli.console;

import org.jspecify.annotations.NullMarked;
