/** What budgets have left. */
@NullMarked
package io.gpusharing.cli.budget;

import org.jspecify.annotations.NullMarked;
