package io.gpusharing.scheduler.evicting;

import io.gpusharing.kubernetes.GpuEviction;
import io.gpusharing.kubernetes.ObjectInformer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The plans for which there is something to do, as the watch shows them. */
final class OpenPlans implements ObjectInformer.Handler<GpuEviction> {

    private final Map<String, Plan> open = new ConcurrentHashMap<>();
    private final Runnable listener;

    /**
     * @param listener called after each change
     */
    OpenPlans(Runnable listener) {
        this.listener = listener;
    }

    /**
     * One that cannot be read is not carried out, and what it was before neither.
     *
     * @throws RuntimeException if it cannot be read
     */
    @Override
    public void onUpdate(GpuEviction object) {
        open.remove(object.getMetadata().getName());
        Plan plan = Plan.of(object);
        if (plan.isOpen()) {
            open.put(plan.name(), plan);
            listener.run();
        }
    }

    @Override
    public void onDelete(GpuEviction object) {
        open.remove(object.getMetadata().getName());
    }

    List<Plan> all() {
        return List.copyOf(open.values());
    }
}
