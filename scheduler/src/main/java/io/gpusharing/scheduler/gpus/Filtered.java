package io.gpusharing.scheduler.gpus;

import io.gpusharing.placement.Reason;
import java.util.List;
import java.util.Map;

/** Where a pod may go. */
public sealed interface Filtered {

    /**
     * To this node, where its GPUs are reserved now.
     *
     * @param others where it fits as well, the best first: nothing is reserved there
     */
    record Chosen(String node, List<String> others) implements Filtered {

        public Chosen {
            others = List.copyOf(others);
        }

        /** To this node alone. */
        public Chosen(String node) {
            this(node, List.of());
        }
    }

    /**
     * Nowhere.
     *
     * @param failed why not, by node; it may fit there when pods go
     * @param unresolvable why not on others, whoever goes
     */
    record Nowhere(Map<String, Reason> failed, Map<String, Reason> unresolvable)
            implements Filtered {

        public Nowhere {
            failed = Map.copyOf(failed);
            unresolvable = Map.copyOf(unresolvable);
        }
    }
}
