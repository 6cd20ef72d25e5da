package io.gpusharing.timekeeper.receipt;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.kubernetes.EvictionPlan;
import io.gpusharing.kubernetes.GpuEviction;
import io.gpusharing.kubernetes.ObjectInformer;
import io.gpusharing.kubernetes.UnreadableObjects;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.springframework.context.SmartLifecycle;
import org.springframework.stereotype.Component;

/**
 * Follows the {@code GpuEviction} objects, of any cause. One that cannot be read is left out, or is
 * what it was when it could be read last; of the others each text can be understood.
 */
@Component
public class EvictionWatch implements SmartLifecycle, ObjectInformer.Handler<GpuEviction> {

    private final ObjectInformer<GpuEviction> informer;
    private final Map<String, GpuEviction> present = new ConcurrentHashMap<>();
    private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
    private final List<Consumer<GpuEviction>> endListeners = new CopyOnWriteArrayList<>();
    private volatile boolean listed;
    private volatile boolean running;

    public EvictionWatch(KubernetesClient client, UnreadableObjects unreadable) {
        this.informer =
                new ObjectInformer<>(
                        "gpuevictions", client.resources(GpuEviction.class), unreadable);
    }

    /** Whether all that there are have ever been listed. */
    public boolean isListed() {
        return listed;
    }

    /** All there are now; in no order. */
    public List<GpuEviction> all() {
        return List.copyOf(present.values());
    }

    /** One of them; empty if it is not there, or not yet, or cannot be read. */
    public Optional<GpuEviction> byName(String name) {
        return Optional.ofNullable(present.get(name));
    }

    /**
     * @param listener called when all are listed, and after each change; must be quick
     */
    public void listen(Runnable listener) {
        listeners.add(listener);
    }

    /**
     * @param listener called with each that has gone, as it was last; must be quick
     */
    void listenForEnds(Consumer<GpuEviction> listener) {
        endListeners.add(listener);
    }

    @Override
    public void onListed() {
        listed = true;
        listeners.forEach(Runnable::run);
    }

    @Override
    public void onUpdate(GpuEviction object) {
        var _ = EvictionPlan.of(object);
        present.put(object.getMetadata().getName(), object);
        if (listed) {
            listeners.forEach(Runnable::run);
        }
    }

    @Override
    public void onDelete(GpuEviction object) {
        GpuEviction last = present.remove(object.getMetadata().getName());
        if (last != null) {
            endListeners.forEach(it -> it.accept(last));
            listeners.forEach(Runnable::run);
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
}
