/** The decision about a workload whose template pods are made from. */
@NullMarked
package io.gpusharing.webhook.template;

import org.jspecify.annotations.NullMarked;
