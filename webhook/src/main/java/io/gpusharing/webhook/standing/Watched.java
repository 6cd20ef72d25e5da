package io.gpusharing.webhook.standing;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.dsl.Informable;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.fabric8.kubernetes.client.informers.cache.Indexer;
import java.util.Collection;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Something that is computed from all objects of one kind, and computed anew when one changes.
 * While the API server is away the last value holds.
 *
 * @param <T> kind of the objects
 * @param <V> what is computed; immutable
 */
public final class Watched<T extends HasMetadata, V> implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Watched.class);

    private final String what;
    private final SharedIndexInformer<T> informer;
    private final Function<Indexer<T>, V> reading;
    private final AtomicBoolean stale = new AtomicBoolean();
    private @Nullable Follower<T> follower;
    private volatile V value;
    private volatile boolean away;
    private volatile boolean read;

    /**
     * @param what plural of the kind, as the API server names it
     * @param objects the objects to watch
     * @param reading what is computed from them
     */
    public Watched(
            String what, Informable<T> objects, Function<Collection<T>, V> reading, V initial) {
        this(what, objects.runnableInformer(0), it -> reading.apply(it.list()), initial);
    }

    private Watched(
            String what,
            SharedIndexInformer<T> informer,
            Function<Indexer<T>, V> reading,
            V initial) {
        this.what = what;
        this.informer = informer;
        this.reading = reading;
        this.value = initial;
        informer.addEventHandler(new Refresh());
        informer.exceptionHandler((started, problem) -> {
            if (!away) {
                away = true;
                log.atWarn()
                        .addKeyValue("what", what)
                        .addKeyValue("problem", problem.getMessage())
                        .log("cannot watch; trying again");
            }
            return true;
        });
    }

    /**
     * Objects that change too often for that: their value looks them up when it is asked.
     *
     * @param view what looks them up
     */
    static <T extends HasMetadata, V> Watched<T, V> indexed(
            String what, Informable<T> objects, Function<Indexer<T>, V> view) {
        SharedIndexInformer<T> informer = objects.runnableInformer(0);
        V value = view.apply(informer.getIndexer());
        return new Watched<>(what, informer, it -> value, value);
    }

    /** Takes one object at a time, once it has taken all that there were. */
    interface Follower<T> {

        /** These there are, and no others. */
        void all(Collection<T> objects);

        /** One is new or has changed. */
        void put(T object);

        /** One has gone. */
        void remove(T object);
    }

    /**
     * Many objects of which single ones change often: each change is followed alone.
     *
     * @param value what the follower keeps up to date
     */
    static <T extends HasMetadata, V> Watched<T, V> followed(
            String what, Informable<T> objects, Follower<T> follower, V value) {
        Watched<T, V> watched =
                new Watched<>(
                        what,
                        objects.runnableInformer(0),
                        known -> {
                            follower.all(known.list());
                            return value;
                        },
                        value);
        watched.follower = follower;
        return watched;
    }

    /** Begins to watch; comes back at once and never gives up. */
    public void start() {
        var _ = informer.start();
    }

    /** Whether everything there was at the start has been read, and is in the value. */
    public boolean hasSynced() {
        if (!informer.hasSynced()) {
            return false;
        }
        if (!read) {
            // The informer calls for its objects later than it knows them, and not at all if there
            // are none.
            changed();
        }
        return read;
    }

    /** The last value. */
    public V value() {
        return value;
    }

    /** Whether the last attempt to watch failed; the last value holds then. */
    public boolean isInterrupted() {
        return away && !informer.isWatching();
    }

    /** Plural of the kind. */
    public String what() {
        return what;
    }

    @Override
    public void close() {
        informer.stop();
    }

    /**
     * Changes come in bursts, at the start one for each object there is, and each is a reading of
     * all objects: those that come while one is under way are answered by one more.
     */
    private void changed() {
        if (stale.compareAndSet(false, true)) {
            Thread.ofVirtual().name("reading-" + what).start(this::refresh);
        }
    }

    private void changed(Consumer<Follower<T>> how) {
        Follower<T> present = follower;
        if (present == null || !read) {
            changed();
            return;
        }
        synchronized (this) {
            how.accept(present);
            noteWatching();
        }
    }

    private synchronized void refresh() {
        stale.set(false);
        boolean all = informer.hasSynced();
        value = reading.apply(informer.getIndexer());
        read |= all;
        noteWatching();
    }

    private void noteWatching() {
        if (away) {
            away = false;
            log.atInfo().addKeyValue("what", what).log("watching again");
        }
    }

    private final class Refresh implements ResourceEventHandler<T> {

        @Override
        public void onAdd(T added) {
            changed(it -> it.put(added));
        }

        @Override
        public void onUpdate(T before, T after) {
            changed(it -> it.put(after));
        }

        @Override
        public void onDelete(T deleted, boolean finalStateUnknown) {
            changed(it -> it.remove(deleted));
        }
    }
}
