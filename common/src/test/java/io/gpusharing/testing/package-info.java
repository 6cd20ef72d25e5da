/** What the tests of more than one module share: the table of fixtures, and random seeds. */
@NullMarked
package io.gpusharing.testing;

import org.jspecify.annotations.NullMarked;
