package io.gpusharing.scheduler.evicting;

import io.gpusharing.kubernetes.EvictionPlan;
import io.gpusharing.kubernetes.GpuEviction;
import io.gpusharing.kubernetes.ObjectInformer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.springframework.context.SmartLifecycle;

/**
 * Follows the {@code GpuEviction} objects, of any cause: what the evictor has to do, and what has
 * been done.
 */
public final class EvictionWatch implements SmartLifecycle, ObjectInformer.Handler<GpuEviction> {

    private final ObjectInformer<GpuEviction> informer;
    private final Map<String, EvictionPlan> present = new ConcurrentHashMap<>();
    private final Map<String, EvictionPlan> open = new ConcurrentHashMap<>();
    private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
    private final List<Consumer<EvictionPlan>> ofDeleted = new CopyOnWriteArrayList<>();
    private volatile boolean listed;
    private volatile boolean running;

    /** Follows what an informer shows, which it starts and ends. */
    public EvictionWatch(ObjectInformer<GpuEviction> informer) {
        this.informer = informer;
    }

    /** Whether all that there are have ever been listed. */
    public boolean isListed() {
        return listed;
    }

    /** All there are now, in no order. */
    public List<EvictionPlan> all() {
        return List.copyOf(present.values());
    }

    /**
     * Whether one of this name is among them: not if it was not there yet, or could never be read.
     */
    public boolean shows(String name) {
        return present.containsKey(name);
    }

    /** The plans for which there is something to do. */
    List<EvictionPlan> open() {
        return List.copyOf(open.values());
    }

    /**
     * Calls a listener when all are listed, and whenever there is a plan to do something for.
     *
     * @param listener must be quick
     */
    void listen(Runnable listener) {
        listeners.add(listener);
    }

    /**
     * Shows a listener each plan that is deleted, as it could be read last.
     *
     * @param listener must be quick
     */
    void listenForDeleted(Consumer<EvictionPlan> listener) {
        ofDeleted.add(listener);
    }

    @Override
    public void onListed() {
        listed = true;
        listeners.forEach(Runnable::run);
    }

    /**
     * One that cannot be read is not carried out, and what it was before neither. Of what has been
     * done it says what it said when it could be read last.
     *
     * @throws RuntimeException if it cannot be read
     */
    @Override
    public void onUpdate(GpuEviction object) {
        open.remove(object.getMetadata().getName());
        EvictionPlan plan = EvictionPlan.of(object);
        present.put(plan.name(), plan);
        if (object.isOpen()) {
            open.put(plan.name(), plan);
            listeners.forEach(Runnable::run);
        }
    }

    @Override
    public void onDelete(GpuEviction object) {
        open.remove(object.getMetadata().getName());
        EvictionPlan last = present.remove(object.getMetadata().getName());
        if (last != null) {
            ofDeleted.forEach(it -> it.accept(last));
        }
    }

    @Override
    public void start() {
        running = true;
        informer.start(this);
    }

    @Override
    public void stop() {
        informer.close();
        running = false;
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    /** From before anybody plans or evicts by it until after. */
    @Override
    public int getPhase() {
        return -1000;
    }
}
