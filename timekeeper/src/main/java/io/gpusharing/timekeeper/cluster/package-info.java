/**
 * What the API server reports. {@link ClusterWatch} keeps {@link ClusterView}, the pods and nodes
 * that there are; {@link PodWatch} makes a {@link PodEvent} of each change of a metered pod, {@link
 * PodSweep} finds those that the watch does not report. The {@link PodEventHandler} is the ledger
 * writer. {@link UnreadableEvents} tells of objects that cannot be read.
 */
@NullMarked
package io.gpusharing.timekeeper.cluster;

import org.jspecify.annotations.NullMarked;
