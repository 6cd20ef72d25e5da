package io.gpusharing.timekeeper.budget;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.dsl.Informable;
import io.gpusharing.kubernetes.ObjectInformer;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.timekeeper.ledger.posting.LedgerWriter;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;

/**
 * Follows all objects of one kind. After each change that matters, the whole set is handed over in
 * the ledger writer's thread, between two postings; for the first time when the list is complete.
 *
 * <p>An object that cannot be read holds up none of the others. It says what it said last; one that
 * never could be read says nothing.
 *
 * @param <T> an object as the API server stores it
 * @param <V> what is read of it
 */
public abstract class ObjectWatch<T extends HasMetadata, V>
        implements SmartLifecycle, ObjectInformer.Handler<T> {

    private static final Logger log = LoggerFactory.getLogger(ObjectWatch.class);

    private final ObjectInformer<T> informer;
    private final LedgerWriter writer;
    private final CompletionStage<Void> prerequisite;
    private final CompletableFuture<Void> known = new CompletableFuture<>();

    /** By namespace and name. An object that is replaced by another of its name is gone. */
    private final Map<String, V> present = new ConcurrentHashMap<>();

    /** Whether work is queued that has not begun: it will see what changes until then. */
    private final AtomicBoolean queued = new AtomicBoolean();

    private volatile boolean listed;
    private volatile boolean running;

    /**
     * @param plural name of the kind in the API, for the log
     * @param prerequisite what has to be known before this kind is
     */
    public ObjectWatch(
            String plural,
            Informable<T> objects,
            UnreadableObjects unreadable,
            LedgerWriter writer,
            CompletionStage<Void> prerequisite) {
        this.informer = new ObjectInformer<>(plural, objects, unreadable);
        this.writer = writer;
        this.prerequisite = prerequisite;
    }

    /** What an object says; null if that is nothing to us. Throws if it cannot be read. */
    protected abstract @Nullable V read(T object);

    /** Whether a change of an object changes nothing for us. */
    protected boolean same(V before, V after) {
        return before.equals(after);
    }

    /** Takes over all that there is now, in the ledger writer's thread. */
    protected abstract void take(Collection<V> all);

    /** Hears of a change at once: the ledger writer may be waiting for the database for long. */
    protected void note(Collection<V> all) {}

    /** Done once all objects were listed and handed to the ledger writer. */
    public CompletionStage<Void> known() {
        return known;
    }

    /** Whether all objects were listed. */
    public boolean isKnown() {
        return listed;
    }

    /** All there are now. */
    protected Collection<V> all() {
        return List.copyOf(present.values());
    }

    /** A cluster-scoped object by its name. */
    public @Nullable V get(String name) {
        return present.get(name);
    }

    /** Hands everything over anew. */
    protected void publish() {
        if (listed) {
            note(all());
            // The set is read when the work is done, not now: work that has to be tried again must
            // see that what stood in its way has been deleted meanwhile.
            if (!queued.getAndSet(true)) {
                writer.between(() -> {
                    queued.set(false);
                    take(all());
                });
            }
        }
    }

    @Override
    public void start() {
        running = true;
        informer.start(this).runAfterBoth(prerequisite, this::begin);
    }

    private void begin() {
        listed = true;
        publish();
        log.atInfo()
                .addKeyValue("kind", informer.plural())
                .addKeyValue("count", present.size())
                .log("all objects are known");
        known.complete(null);
    }

    @Override
    public void onUpdate(T object) {
        if (put(object)) {
            publish();
        }
    }

    @Override
    public void onDelete(T object) {
        if (present.remove(key(object)) != null) {
            publish();
        }
    }

    /** Whether it changes anything. */
    private boolean put(T object) {
        V after = read(object);
        String key = key(object);
        V before = after == null ? present.remove(key) : present.put(key, after);
        if (before == null || after == null) {
            return before != null || after != null;
        }
        return !same(before, after);
    }

    private static String key(HasMetadata object) {
        String namespace = object.getMetadata().getNamespace();
        String name = object.getMetadata().getName();
        return namespace == null ? name : namespace + "/" + name;
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
