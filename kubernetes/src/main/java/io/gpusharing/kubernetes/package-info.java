/**
 * What the services share of Kubernetes: our object types, informers, the leader's lease, Events.
 * Plain Java on top of the client, so that a command line can use it, too.
 */
@NullMarked
package io.gpusharing.kubernetes;

import org.jspecify.annotations.NullMarked;
