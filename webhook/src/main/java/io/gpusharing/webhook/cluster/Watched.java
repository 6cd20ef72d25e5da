package io.gpusharing.webhook.cluster;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.dsl.Informable;
import io.gpusharing.kubernetes.ObjectInformer;
import java.util.Collection;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;

/**
 * Something that is computed from all objects of one kind, and computed anew when one changes.
 * While the API server is away the last value holds.
 *
 * @param <T> kind of the objects
 * @param <V> what is computed; immutable
 */
final class Watched<T extends HasMetadata, V> implements ObjectInformer.Handler<T>, AutoCloseable {

    private final ObjectInformer<T> informer;
    private final Function<Collection<T>, V> reading;
    private final AtomicBoolean stale = new AtomicBoolean();
    private volatile V value;

    /**
     * @param plural name of the kind in the API
     * @param objects the objects to watch
     * @param reading what is computed from them
     */
    Watched(String plural, Informable<T> objects, Function<Collection<T>, V> reading, V initial) {
        this.informer = new ObjectInformer<>(plural, objects);
        this.reading = reading;
        this.value = initial;
    }

    /** Begins to watch; comes back at once and never gives up. */
    void start() {
        var _ = informer.start(this);
    }

    /** What keeps the objects; once it has synced they are in the value. */
    ObjectInformer<T> informer() {
        return informer;
    }

    /** The last value. */
    V value() {
        return value;
    }

    @Override
    public void close() {
        informer.close();
    }

    @Override
    public void onList(Collection<T> objects) {
        refresh();
    }

    @Override
    public void onUpdate(T object) {
        refreshSoon();
    }

    @Override
    public void onDelete(T object) {
        refreshSoon();
    }

    /**
     * Changes come in bursts, and each is a reading of all objects: those that come while one is
     * under way are answered by one more.
     */
    private void refreshSoon() {
        if (stale.compareAndSet(false, true)) {
            Thread.ofVirtual().name("reading-" + informer.plural()).start(this::refresh);
        }
    }

    private synchronized void refresh() {
        stale.set(false);
        value = reading.apply(informer.objects().list());
    }
}
