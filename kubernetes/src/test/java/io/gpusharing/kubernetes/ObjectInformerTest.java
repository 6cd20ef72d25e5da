package io.gpusharing.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.dsl.Informable;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.fabric8.kubernetes.client.informers.cache.Indexer;
import java.lang.reflect.Proxy;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ObjectInformerTest {

    private final List<String> told = new ArrayList<>();
    private final List<Pod> stored = new ArrayList<>(List.of(pod("first", "1")));
    private final List<Unreadable> unread = new ArrayList<>();
    private final UnreadableObjects unreadable = new UnreadableObjects(unread::add);
    private @Nullable ResourceEventHandler<Pod> client;
    private @Nullable String version;
    private boolean watching = true;

    private static Pod pod(String name, String uid) {
        return new PodBuilder().withNewMetadata().withName(name).withUid(uid).endMetadata().build();
    }

    /** What the client's informer does, in our hands. */
    @SuppressWarnings("unchecked")
    private ObjectInformer<Pod> informer() {
        Indexer<Pod> indexer = fake(Indexer.class, (method, arguments) -> List.copyOf(stored));
        SharedIndexInformer<Pod> informer =
                fake(
                        SharedIndexInformer.class,
                        (method, arguments) ->
                                switch (method) {
                                    case "addEventHandler" -> {
                                        client = (ResourceEventHandler<Pod>) arguments[0];
                                        yield null;
                                    }
                                    case "getIndexer" -> indexer;
                                    case "hasSynced" -> true;
                                    case "isWatching" -> watching;
                                    case "lastSyncResourceVersion" -> version;
                                    case "start" -> CompletableFuture.completedFuture(null);
                                    default -> null;
                                });
        Informable<Pod> pages = fake(Informable.class, (method, arguments) -> informer);
        // All at once would be too much.
        Informable<Pod> pods =
                fake(
                        Informable.class,
                        (method, arguments) -> method.equals("withLimit") ? pages : null);
        return new ObjectInformer<>("pods", pods, unreadable);
    }

    private interface Answers {
        @Nullable Object to(String method, Object[] arguments);
    }

    private static <T> T fake(Class<T> type, Answers answers) {
        return type.cast(
                Proxy.newProxyInstance(
                        type.getClassLoader(),
                        new Class<?>[] {type},
                        (proxy, method, arguments) -> answers.to(method.getName(), arguments)));
    }

    private ResourceEventHandler<Pod> started() {
        informer()
                .start(
                        new ObjectInformer.Handler<Pod>() {
                            @Override
                            public void onUpdate(Pod pod) {
                                if (pod.getMetadata().getName().equals("poison")) {
                                    throw new IllegalArgumentException("cannot read this");
                                }
                                told.add("update " + pod.getMetadata().getUid());
                            }

                            @Override
                            public void onDelete(Pod pod) {
                                told.add("delete " + pod.getMetadata().getUid());
                            }
                        });
        return Objects.requireNonNull(client);
    }

    @Test
    void handsOverAllThatThereIsAndThenWhatChanges() {
        ResourceEventHandler<Pod> client = started();

        client.onAdd(stored.getFirst());
        client.onAdd(pod("second", "2"));
        client.onDelete(stored.getFirst(), false);

        assertThat(told).containsExactly("update 1", "update 2", "delete 1");
    }

    @Test
    void whatWasMadeAnewUnderItsNameWhileNobodyWatchedIsTheEndOfTheOther() {
        ResourceEventHandler<Pod> client = started();

        client.onUpdate(stored.getFirst(), pod("first", "3"));
        client.onUpdate(pod("first", "3"), pod("first", "3"));

        assertThat(told).containsExactly("update 1", "delete 1", "update 3", "update 3");
    }

    @Test
    void oneThatTheHandlerCannotReadKeepsNoOtherBack() {
        stored.addFirst(pod("poison", "9"));
        ResourceEventHandler<Pod> client = started();

        client.onAdd(pod("poison", "10"));
        client.onAdd(pod("second", "2"));

        assertThat(told).containsExactly("update 1", "update 2");
        assertThat(unread).extracting(Unreadable::name).containsExactly("poison");

        client.onDelete(pod("poison", "10"), false);

        assertThat(unreadable.present()).isEmpty();
    }

    private static long silence(ObjectInformer<Pod> informer, int second) {
        return informer.silence(Instant.ofEpochSecond(second)).toSeconds();
    }

    @Test
    void aWatchIsSilentFromWhenItWasAskedFirstUntilTheApiServerSpeaks() {
        ObjectInformer<Pod> informer = informer();

        assertThat(silence(informer, 100)).isZero();
        assertThat(silence(informer, 160)).isEqualTo(60);
        version = "7";
        assertThat(silence(informer, 161)).isZero();
        assertThat(silence(informer, 170)).isEqualTo(9);
    }

    @Test
    @SuppressWarnings("StringOperationCanBeSimplified") // As of another bookmark.
    void aBookmarkOfTheSameVersionEndsTheSilence() {
        ObjectInformer<Pod> informer = informer();
        version = new String("7");
        assertThat(silence(informer, 100)).isZero();

        version = new String("7");

        assertThat(silence(informer, 160)).isZero();
    }

    /** As where we may list objects and not watch them. */
    @Test
    void listsAreNoWatchHoweverOftenTheyAreRepeated() {
        ObjectInformer<Pod> informer = informer();
        watching = false;
        for (int second = 0; second < 600; second++) {
            version = String.valueOf(second);
            assertThat(silence(informer, second)).isEqualTo(second);
        }

        watching = true;

        assertThat(silence(informer, 600)).isZero();
    }

    @Test
    void ofTwoInOneTheSecondIsToldAlsoWhatTheFirstCannotRead() {
        var first =
                new ObjectInformer.Handler<Pod>() {
                    @Override
                    public void onUpdate(Pod pod) {
                        throw new IllegalArgumentException("cannot read this");
                    }
                };
        var second =
                new ObjectInformer.Handler<Pod>() {
                    @Override
                    public void onUpdate(Pod pod) {
                        told.add("update " + pod.getMetadata().getUid());
                    }

                    @Override
                    public void onDelete(Pod pod) {
                        told.add("delete " + pod.getMetadata().getUid());
                    }
                };

        informer().start(first.and(second));
        Objects.requireNonNull(client).onDelete(stored.getFirst(), false);

        assertThat(told).containsExactly("update 1", "delete 1");
        assertThat(unread).hasSize(1);
    }
}
