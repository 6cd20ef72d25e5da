package io.gpusharing.timekeeper.cluster;

import io.fabric8.kubernetes.api.model.ListOptions;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodList;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.fabric8.kubernetes.client.dsl.FilterWatchListDeletable;
import io.fabric8.kubernetes.client.dsl.PodResource;
import io.gpusharing.Names;
import io.gpusharing.kubernetes.PodFacts;
import io.gpusharing.kubernetes.Rounds;
import io.gpusharing.kubernetes.StreamedList;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.timekeeper.cluster.PodEvent.Bookmark;
import io.gpusharing.timekeeper.cluster.PodEvent.Deleted;
import io.gpusharing.timekeeper.cluster.PodEvent.Listed;
import io.gpusharing.timekeeper.cluster.PodEvent.Unlabelled;
import io.gpusharing.timekeeper.cluster.PodEvent.Updated;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lists and watches the metered pods, and reports {@link PodEvent}s. It goes on for ever: an API
 * server that is away is asked again, one that has forgotten our position is listed again.
 *
 * <p>A pod that cannot be read stops nothing: the position moves past what is reported of it, and
 * it stays what it was known as last until it has gone.
 */
final class PodWatch implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(PodWatch.class);

    private final KubernetesClient client;
    private final Function<Pod, PodFacts> reader;
    private final Consumer<PodEvent> handler;
    private final Duration retry;
    private final Supplier<Optional<String>> stored;
    private final Rounds watching;
    private final Clock clock;
    private final UnreadPods unread;
    private final Thread thread;
    private volatile Instant heard;

    /**
     * @param stored where to go on, read once it begins; empty to begin with a list
     * @param watching is told how it goes
     */
    PodWatch(
            KubernetesClient client,
            UnreadableObjects unreadable,
            Function<Pod, PodFacts> reader,
            Consumer<PodEvent> handler,
            Duration retry,
            Supplier<Optional<String>> stored,
            Rounds watching,
            Clock clock) {
        this.client = client;
        this.reader = reader;
        this.handler = handler;
        this.retry = retry;
        this.stored = stored;
        this.watching = watching;
        this.clock = clock;
        this.unread = new UnreadPods(unreadable);
        this.heard = clock.instant();
        this.thread = Thread.ofVirtual().name("pod-watch").unstarted(this::run);
    }

    void start() {
        thread.start();
    }

    @Override
    public void close() {
        thread.interrupt();
        unread.close();
    }

    /** When the API server last said anything, were it only that nothing has happened. */
    Instant heard() {
        return heard;
    }

    private void run() {
        boolean begun = false;
        String position = null;
        var backoff = new Backoff(retry);
        try {
            while (!Thread.currentThread().isInterrupted()) {
                Duration wait;
                try {
                    if (!begun) {
                        position = stored.get().orElse(null);
                        begun = true;
                    }
                    String listed = list(position != null);
                    Instant began = clock.instant();
                    position = follow(position != null ? position : listed, position != null);
                    wait = backoff.after(Duration.between(began, clock.instant()));
                    if (backoff.isRepeated()) {
                        watching.failed(
                                new IllegalStateException(
                                        "All pods are listed again and again: no watch of them lasts"));
                    }
                } catch (RuntimeException | Error e) {
                    if (Thread.currentThread().isInterrupted()) {
                        // Closed: another watch has begun, and says how that goes.
                        return;
                    }
                    // Whatever it was: a thread that ended here would leave all pods uncharged.
                    watching.failed(e);
                    wait = retry;
                }
                TimeUnit.NANOSECONDS.sleep(wait.toNanos());
            }
        } catch (InterruptedException e) {
            log.debug("interrupted");
        }
    }

    private FilterWatchListDeletable<Pod, PodList, PodResource> metered() {
        return client.pods().inAnyNamespace().withLabel(Names.METERED_LABEL, "true");
    }

    private String list(boolean resuming) {
        var pods = new ArrayList<PodFacts>();
        unread.listing();
        String position =
                StreamedList.of(client, Pod.class)
                        .withLabels(Names.METERED_LABEL + "=true")
                        .forEach(pod -> read(pod).ifPresent(pods::add));
        heard = clock.instant();
        handler.accept(new Listed(List.copyOf(pods), unread.listed(), position, resuming, heard));
        return position;
    }

    private Optional<PodFacts> read(Pod pod) {
        return unread.read(pod, reader);
    }

    /**
     * Returns when the API server no longer knows the position, did not answer a question, or has
     * removed a pod that cannot be read.
     *
     * @return where to go on; null if all pods have to be listed again
     */
    private @Nullable String follow(String position, boolean resuming) throws InterruptedException {
        var ended = new ArrayBlockingQueue<End>(1);
        ListOptions options =
                new ListOptionsBuilder()
                        .withResourceVersion(position)
                        .withAllowWatchBookmarks(true)
                        .build();
        Watch watch = metered().watch(options, new MeteredPodWatcher(position, ended));
        try {
            if (resuming) {
                // Now silence means that nothing happened.
                handler.accept(new Bookmark(position, clock.instant()));
            }
            @Nullable End end = ended.poll(Backoff.LONGEST.toNanos(), TimeUnit.NANOSECONDS);
            if (end == null) {
                // This watch lasts.
                watching.succeeded();
                end = ended.take();
            }
            log.atInfo().addKeyValue("reason", end.reason()).log("listing pods again");
            return end.position();
        } finally {
            watch.close();
        }
    }

    /**
     * How a watch ended.
     *
     * @param position up to which all was handed on; null if the API server may not know it any
     *     more
     */
    private record End(String reason, @Nullable String position) {}

    private final class MeteredPodWatcher implements Watcher<Pod> {

        /** Holds the first end. What is said after it is dropped: the watch is being closed. */
        private final ArrayBlockingQueue<End> ended;

        private String handled;
        private boolean stopped;

        MeteredPodWatcher(String position, ArrayBlockingQueue<End> ended) {
            this.handled = position;
            this.ended = ended;
        }

        /** The watch calls one at a time. What comes after events that were not taken must wait. */
        @Override
        public void eventReceived(Action action, Pod pod) {
            if (stopped) {
                return;
            }
            String position = pod.getMetadata().getResourceVersion();
            try {
                Instant now = clock.instant();
                heard = now;
                switch (action) {
                    case ADDED, MODIFIED -> handler.accept(changed(pod, position, now));
                    case DELETED ->
                            left(pod, position, now)
                                    .ifPresentOrElse(handler, () -> lose(pod, position));
                    case BOOKMARK -> handler.accept(new Bookmark(position, now));
                    case ERROR -> {
                        stop(new End("the API server reported an error", null));
                        return;
                    }
                }
                handled = position;
            } catch (RuntimeException | Error e) {
                log.atWarn().setCause(e).log("a pod's event cannot be handled");
                stop(new End("a pod's event cannot be handled", handled));
            }
        }

        /** Of a pod that cannot be read now, what was read before holds. */
        private PodEvent changed(Pod pod, String position, Instant now) {
            return read(pod)
                    .<PodEvent>map(it -> new Updated(it, position, now))
                    .orElseGet(() -> new Bookmark(position, now));
        }

        /**
         * A watch by label says the same of a pod that was removed and of one that lost the label.
         *
         * @return empty if the pod cannot be read
         */
        private Optional<PodEvent> left(Pod pod, String position, Instant now) {
            return read(pod)
                    .map(last ->
                            last.lifecycle().removal() != null
                                    ? new Deleted(last, position, now)
                                    : present(last)
                                            .<PodEvent>map(it ->
                                                    new Unlabelled(
                                                            read(it).orElse(last), position, now))
                                            .orElseGet(() -> new Deleted(last, position, now)));
        }

        /** The list does not show it: it is taken for one that vanished while nobody watched. */
        private void lose(Pod pod, String position) {
            unread.gone(pod);
            stop(new End("a pod that cannot be read was removed", position));
        }

        private Optional<Pod> present(PodFacts pod) {
            return Optional.ofNullable(
                            client.pods().inNamespace(pod.namespace()).withName(pod.name()).get())
                    .filter(it -> it.getMetadata().getUid().equals(pod.uid().toString()));
        }

        @Override
        public void onClose(WatcherException cause) {
            ended.offer(new End(String.valueOf(cause.getMessage()), null));
        }

        @Override
        public void onClose() {
            // Closed by ourselves.
        }

        private void stop(End end) {
            stopped = true;
            ended.offer(end);
        }
    }
}
