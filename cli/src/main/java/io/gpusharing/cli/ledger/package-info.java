/** What the ledger knows of budgets, asked through the API server. */
@NullMarked
package io.gpusharing.cli.ledger;

import org.jspecify.annotations.NullMarked;
