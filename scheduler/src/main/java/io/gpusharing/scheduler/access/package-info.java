/**
 * Who may ask the extender where the cluster's own kube-scheduler reaches it over the network: that
 * scheduler by its client certificate, and for what is read whoever may get nodes.
 */
@NullMarked
package io.gpusharing.scheduler.access;

import org.jspecify.annotations.NullMarked;
