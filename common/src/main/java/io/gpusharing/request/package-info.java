/** What a pod asks of GPUs, and what share of a GPU that is. */
@NullMarked
package io.gpusharing.request;

import org.jspecify.annotations.NullMarked;
