package io.gpusharing.kubernetes;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Informable;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.fabric8.kubernetes.client.informers.cache.BasicItemStore;
import io.fabric8.kubernetes.client.informers.cache.Cache;
import io.fabric8.kubernetes.client.informers.cache.Indexer;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows all objects of one kind: hands over all that there are once they are listed, and from
 * then on each that changes. While the API server is away, or does not know the kind yet, it is
 * asked again for ever, and what was handed over last holds.
 *
 * @param <T> an object as the API server stores it
 */
public final class ObjectInformer<T extends HasMetadata> implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(ObjectInformer.class);

    /**
     * Objects to a page. Who is handed tens of thousands in one answer has their text and what was
     * read of it in memory at once.
     */
    private static final long PAGE = 25;

    private final String plural;
    private final SharedIndexInformer<T> informer;
    private final UnreadableObjects unreadable;
    private volatile boolean interrupted;
    private volatile boolean synced;
    private volatile int refusal;
    private final AtomicReference<@Nullable Word> lastWord = new AtomicReference<>();

    /**
     * Objects that were handed over as a list and of which the client still says that they are new.
     */
    private final Set<T> listed = Collections.newSetFromMap(new IdentityHashMap<>());

    /**
     * @param plural name of the kind in the API, for log and metrics
     * @param objects the objects to follow
     * @param unreadable takes those that the handler fails on
     */
    public ObjectInformer(String plural, Informable<T> objects, UnreadableObjects unreadable) {
        this.plural = plural;
        this.unreadable = unreadable.ofFollower();
        this.informer = objects.withLimit(PAGE).runnableInformer(0);
        this.informer.itemStore(new Store<>());
    }

    /**
     * Takes objects, one call at a time. One that it cannot read, it throws at: it is that object's
     * problem, and the next one is handed over.
     *
     * @param <T> kind of the objects
     */
    public interface Handler<T> {

        /** Says that all that there are have been handed over. */
        default void onListed() {}

        /** One is new or has changed. */
        default void onUpdate(T object) {}

        /** One has gone. */
        default void onDelete(T object) {}

        /**
         * Both in one: the second is handed an object after the first, also where that cannot read
         * it.
         */
        default Handler<T> and(Handler<? super T> second) {
            Handler<T> first = this;
            return new Handler<>() {

                @Override
                public void onListed() {
                    first.onListed();
                    second.onListed();
                }

                @Override
                public void onUpdate(T object) {
                    try {
                        first.onUpdate(object);
                    } finally {
                        second.onUpdate(object);
                    }
                }

                @Override
                public void onDelete(T object) {
                    try {
                        first.onDelete(object);
                    } finally {
                        second.onDelete(object);
                    }
                }
            };
        }
    }

    /**
     * Begins to follow; comes back at once.
     *
     * @return done once all objects have been listed and handed over
     */
    public CompletionStage<Void> start(Handler<T> handler) {
        informer.addEventHandler(new Relay(handler));
        informer.exceptionHandler((started, problem) -> {
            refusal = code(problem);
            if (!interrupted) {
                interrupted = true;
                log.atWarn()
                        .addKeyValue("kind", plural)
                        .addKeyValue("problem", problem.getMessage())
                        .log("cannot watch; trying again");
            }
            return true;
        });
        return informer.start().thenRun(() -> list(handler));
    }

    /** What is listed anew and has not changed stays the object that was handed over. */
    private static final class Store<T extends HasMetadata> extends BasicItemStore<T> {

        Store() {
            super(Cache::metaNamespaceKeyFunc);
        }

        @Override
        public @Nullable T put(String key, T object) {
            T known = get(key);
            return known != null
                            && isSame(known.getMetadata().getUid(), object.getMetadata().getUid())
                            && isSame(
                                    known.getMetadata().getResourceVersion(),
                                    object.getMetadata().getResourceVersion())
                    ? known
                    : super.put(key, object);
        }

        private static boolean isSame(@Nullable String one, @Nullable String other) {
            return one != null && one.equals(other);
        }
    }

    /** Whether all objects that there were have been handed over. */
    public boolean hasSynced() {
        return synced;
    }

    /** The status that the last attempt was answered if it failed; 0 if it had none. */
    private static int code(Throwable problem) {
        for (Throwable cause = problem; cause != null; cause = cause.getCause()) {
            if (cause instanceof KubernetesClientException answered) {
                return answered.getCode();
            }
        }
        return 0;
    }

    /**
     * Whether nothing has ever been listed because the API server answers with one of these HTTP
     * statuses: that it does not know the kind, or that we may not see it.
     */
    public boolean isRefused(Integer... codes) {
        return !synced && List.of(codes).contains(refusal);
    }

    /** Whether the last attempt to watch failed. */
    public boolean isInterrupted() {
        return interrupted && !informer.isWatching();
    }

    /**
     * What the API server said last.
     *
     * @param version of an object, a list or a bookmark; null before it has said anything
     */
    private record Word(@Nullable String version, Instant heard) {

        @SuppressWarnings("ReferenceEquality") // Nothing has happened: the same version, said anew.
        boolean is(@Nullable String other) {
            return version == other;
        }
    }

    /**
     * For how long the API server has said nothing, or nobody has listened. It speaks at least
     * every minute, were it only that nothing has happened. Counts from when it is first asked, and
     * is as exact as it is asked often.
     */
    public Duration silence(Instant now) {
        String version = informer.lastSyncResourceVersion();
        // Lists alone are no watch, however often they are repeated.
        boolean listens = informer.isWatching();
        Word last =
                Objects.requireNonNull(
                        lastWord.updateAndGet(word ->
                                word != null && (!listens || word.is(version))
                                        ? word
                                        : new Word(version, now)));
        return Duration.between(last.heard(), now);
    }

    /** Name of the kind in the API. */
    public String plural() {
        return plural;
    }

    /** The objects as they are known now. */
    public Indexer<T> objects() {
        return informer.getIndexer();
    }

    @Override
    public void close() {
        informer.close();
    }

    private synchronized void list(Handler<T> handler) {
        if (!synced) {
            listed.addAll(informer.getIndexer().list());
            listed.forEach(object -> unreadable.handOver(object, handler::onUpdate));
            handler.onListed();
            synced = true;
            noteWatching();
        }
    }

    /** What changes before all is listed is part of the list, and is not handed over again. */
    private synchronized void put(T object, Handler<T> handler) {
        if (!synced && informer.hasSynced()) {
            list(handler);
        }
        if (synced && !listed.remove(object)) {
            change(() -> unreadable.handOver(object, handler::onUpdate));
        }
    }

    private synchronized void remove(T object, Handler<T> handler) {
        if (synced) {
            change(() -> {
                unreadable.handOver(object, handler::onDelete);
                unreadable.forget(object);
            });
        } else if (informer.hasSynced()) {
            list(handler);
        }
    }

    private void change(Runnable change) {
        // The client reports in order: what it has still to say of the list was said.
        listed.clear();
        change.run();
        noteWatching();
    }

    private void noteWatching() {
        if (interrupted) {
            interrupted = false;
            log.atInfo().addKeyValue("kind", plural).log("watching again");
        }
    }

    private final class Relay implements ResourceEventHandler<T> {

        private final Handler<T> handler;

        Relay(Handler<T> handler) {
            this.handler = handler;
        }

        @Override
        public void onAdd(T added) {
            put(added, handler);
        }

        @Override
        public void onUpdate(T before, T after) {
            // Made anew under its name while nobody watched.
            if (!Objects.equals(before.getMetadata().getUid(), after.getMetadata().getUid())) {
                remove(before, handler);
            }
            put(after, handler);
        }

        @Override
        public void onDelete(T deleted, boolean finalStateUnknown) {
            remove(deleted, handler);
        }
    }
}
