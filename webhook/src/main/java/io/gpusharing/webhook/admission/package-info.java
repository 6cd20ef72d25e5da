/** What is decided about a pod or a template, and how it is told. */
@NullMarked
package io.gpusharing.webhook.admission;

import org.jspecify.annotations.NullMarked;
