package io.gpusharing.webhook.cluster;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.dsl.Informable;
import io.fabric8.kubernetes.client.informers.cache.Cache;
import io.gpusharing.kubernetes.ObjectInformer;
import io.gpusharing.kubernetes.UnreadableObjects;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;

/**
 * Something that is computed from what is read of all objects of one kind, and computed anew when
 * one changes. While the API server is away the last value holds.
 *
 * <p>An object that cannot be read is left out, also if it could be before: where it was read last,
 * a node may have had other GPUs.
 *
 * @param <T> kind of the objects
 * @param <R> what is read of one
 * @param <V> what is computed of all; immutable
 */
final class Watched<T extends HasMetadata, R, V>
        implements ObjectInformer.Handler<T>, AutoCloseable {

    private final ObjectInformer<T> informer;
    private final Function<T, R> reading;
    private final Function<Collection<R>, V> computing;
    private final Map<String, R> read = new ConcurrentHashMap<>();
    private final AtomicBoolean stale = new AtomicBoolean();
    private volatile V value;

    /**
     * @param plural name of the kind in the API
     * @param objects the objects to watch
     * @param unreadable takes those that {@code reading} fails on
     * @param reading what is read of one
     * @param computing what is computed from that of all that can be read
     */
    Watched(
            String plural,
            Informable<T> objects,
            UnreadableObjects unreadable,
            Function<T, R> reading,
            Function<Collection<R>, V> computing,
            V initial) {
        this.informer = new ObjectInformer<>(plural, objects, unreadable);
        this.reading = reading;
        this.computing = computing;
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
    public void onListed() {
        refresh();
    }

    @Override
    public void onUpdate(T object) {
        String key = Cache.metaNamespaceKeyFunc(object);
        try {
            read.put(key, reading.apply(object));
        } catch (RuntimeException e) {
            read.remove(key);
            throw e;
        } finally {
            refreshSoon();
        }
    }

    @Override
    public void onDelete(T object) {
        read.remove(Cache.metaNamespaceKeyFunc(object));
        refreshSoon();
    }

    /**
     * Changes come in bursts, and for each something is computed from all objects: those that come
     * meanwhile are answered by one more computation. Those that are being listed wait until all
     * are.
     */
    private void refreshSoon() {
        if (informer.hasSynced() && stale.compareAndSet(false, true)) {
            Thread.ofVirtual().name("reading-" + informer.plural()).start(this::refresh);
        }
    }

    private synchronized void refresh() {
        stale.set(false);
        value = computing.apply(read.values());
    }
}
