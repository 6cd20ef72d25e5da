/**
 * Who may ask over the network. The extender, where the cluster's own kube-scheduler reaches it so:
 * that scheduler by its client certificate, and for what is read whoever may get nodes. Why pods
 * wait, in every mode and on a port of its own: the timekeeper by its token.
 */
@NullMarked
package io.gpusharing.scheduler.access;

import org.jspecify.annotations.NullMarked;
