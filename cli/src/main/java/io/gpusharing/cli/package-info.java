/**
 * The plugin {@code kubectl gpusharing}: {@link io.gpusharing.cli.Program} puts together {@code
 * budget} (what budgets have left), {@code inspect} (who has which GPU), {@code cluster} (asking
 * the API server as kubectl does) and {@code console} (what a command prints).
 */
@NullMarked
package io.gpusharing.cli;

import org.jspecify.annotations.NullMarked;
