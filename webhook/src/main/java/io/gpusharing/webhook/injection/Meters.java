package io.gpusharing.webhook.injection;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The metering containers that a pod has already, by name. Whatever GPUs they ask for was given to
 * them by others, and is not the pod's request.
 *
 * @param kept the one that stays; null if none does
 * @param outdated those that go: an older version of ours or another cluster has added them to the
 *     pod that this one is a copy of
 */
public record Meters(@Nullable String kept, List<String> outdated) {

    /** There is none. */
    public static final Meters NONE = new Meters(null, List.of());

    public Meters {
        outdated = List.copyOf(outdated);
    }

    /** All of them. */
    public List<String> all() {
        var all = new ArrayList<>(outdated);
        if (kept != null) {
            all.add(kept);
        }
        return all;
    }
}
