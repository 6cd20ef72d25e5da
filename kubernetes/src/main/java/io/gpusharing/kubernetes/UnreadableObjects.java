package io.gpusharing.kubernetes;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The objects that cannot be read now. Whatever the API server stores, somebody will store; an
 * object that a reader fails on is that object's problem, and ends no list, watch or round.
 *
 * <p>An object is unreadable from the reader's failure until it is read or has gone. At most
 * {@value #MOST} are remembered: a tenant may make tens of thousands.
 */
public final class UnreadableObjects {

    private static final int MOST = 1_000;

    private record Key(String kind, @Nullable String namespace, String name) {

        static Key of(HasMetadata object) {
            ObjectMeta metadata = object.getMetadata();
            return new Key(object.getKind(), metadata.getNamespace(), metadata.getName());
        }
    }

    private final Map<Key, Unreadable> present = new ConcurrentHashMap<>();
    private final Consumer<Unreadable> onFirst;

    /**
     * @param onFirst is told each object once, by the thread that has failed to read it
     */
    public UnreadableObjects(Consumer<Unreadable> onFirst) {
        this.onFirst = onFirst;
    }

    /**
     * Reads an object.
     *
     * @return what was read; empty if the reader failed
     * @throws KubernetesClientException if the reader asked the API server and got no answer: that
     *     says nothing of the object
     */
    public <T extends HasMetadata, R> Optional<R> read(
            T object, Function<? super T, ? extends R> reader) {
        try {
            R read = reader.apply(object);
            forget(object);
            return Optional.of(read);
        } catch (KubernetesClientException e) {
            throw e;
        } catch (RuntimeException e) {
            note(Key.of(object), Unreadable.of(object, e));
            return Optional.empty();
        }
    }

    /**
     * Hands an object to one who reads it.
     *
     * @return whether it was read
     * @throws KubernetesClientException as {@link #read} does
     */
    public <T extends HasMetadata> boolean handOver(T object, Consumer<? super T> taker) {
        return read(
                        object,
                        it -> {
                            taker.accept(it);
                            return true;
                        })
                .isPresent();
    }

    /** Says that an object has gone. */
    public void forget(HasMetadata object) {
        if (!present.isEmpty()) {
            present.remove(Key.of(object));
        }
    }

    /** Says that all of these have gone. */
    public void forgetAll(Predicate<Unreadable> gone) {
        present.values().removeIf(gone);
    }

    /** Those that cannot be read now. */
    public Collection<Unreadable> present() {
        return List.copyOf(present.values());
    }

    private void note(Key key, Unreadable object) {
        boolean known = present.containsKey(key);
        if (known || present.size() < MOST) {
            present.put(key, object);
            if (!known) {
                onFirst.accept(object);
            }
        }
    }
}
