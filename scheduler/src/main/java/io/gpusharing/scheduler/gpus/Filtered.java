package io.gpusharing.scheduler.gpus;

import java.util.Map;

/** Where a pod may go. */
public sealed interface Filtered {

    /** To this node alone. Its GPUs there are reserved now. */
    record Chosen(String node) implements Filtered {}

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
