package io.gpusharing.scheduler.picture.reading;

import io.gpusharing.placement.KeptRoom;
import io.gpusharing.placement.SharedNode;
import io.gpusharing.scheduler.picture.NodeView;
import io.gpusharing.sharing.Amounts;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A node as it stands, without what our device plugin says of it.
 *
 * @param view the same as another provider's
 * @param allocatable its sums
 */
record BareNode(NodeView view, Amounts allocatable) {

    String name() {
        return view.name();
    }

    /**
     * The node with what is known of its GPUs.
     *
     * @param shared its GPUs where our device plugin hands them out; then no annotation of another
     *     provider counts
     * @param kept room on them that is kept
     */
    NodeView with(@Nullable SharedNode shared, List<KeptRoom> kept) {
        return new NodeView(
                view.name(),
                view.labels(),
                view.taints(),
                view.unschedulable(),
                shared == null ? view.empty() : shared.empty(allocatable),
                shared,
                kept);
    }
}
