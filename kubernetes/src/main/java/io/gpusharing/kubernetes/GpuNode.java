package io.gpusharing.kubernetes;

import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;
import io.gpusharing.wire.GpuNodeStatus;

/** A {@code GpuNode} as the API server stores it; of its status only what is read here. */
@Group(GpuBudget.GROUP)
@Version(GpuBudget.VERSION)
@Kind("GpuNode")
@Plural("gpunodes")
public class GpuNode extends CustomResource<Void, GpuNodeStatus> {}
