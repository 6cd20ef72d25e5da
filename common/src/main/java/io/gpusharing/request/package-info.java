/** What a pod asks of GPUs, in the words of each provider of fractions, and what that is worth. */
@NullMarked
package io.gpusharing.request;

import org.jspecify.annotations.NullMarked;
