package io.gpusharing.kubernetes;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiPredicate;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The objects that cannot be read now. Whatever the API server stores, somebody will store; an
 * object that a reader fails on is that object's problem, and ends no list, watch or round.
 *
 * <p>Readers take different things from an object, and it is unreadable while one of them fails on
 * it. What a reader has noted it alone takes back: when it reads the object, or says that it has
 * gone. A reader that looks at an object now and then may never hear of either: its note lapses ten
 * minutes after it has failed last. At most {@value #MOST} objects are remembered, and of one
 * namespace {@value #MOST_OF_ONE}: a tenant may make tens of thousands, and hides nobody else's.
 */
public final class UnreadableObjects {

    private static final int MOST = 1_000;

    private static final int MOST_OF_ONE = 100;

    /** Longer than the pause between two looks at an object that somebody needs. */
    private static final Duration LAPSE = Duration.ofMinutes(10);

    private record Key(String kind, @Nullable String namespace, String name) {

        static Key of(HasMetadata object) {
            ObjectMeta metadata = object.getMetadata();
            return new Key(object.getKind(), metadata.getNamespace(), metadata.getName());
        }
    }

    private record Note(Unreadable object, Instant until) {}

    /** Of all readers, none without a note. */
    private final Map<Key, Map<UnreadableObjects, Note>> notes;

    private final Consumer<Unreadable> onFirst;
    private final Clock clock;
    private final boolean follows;

    /**
     * @param onFirst is told each object when it becomes unreadable, by the thread that has failed
     */
    public UnreadableObjects(Consumer<Unreadable> onFirst) {
        this(onFirst, Clock.systemUTC());
    }

    /** As above, with a clock by which notes lapse. */
    public UnreadableObjects(Consumer<Unreadable> onFirst, Clock clock) {
        this(new ConcurrentHashMap<>(), onFirst, clock, false);
    }

    private UnreadableObjects(
            Map<Key, Map<UnreadableObjects, Note>> notes,
            Consumer<Unreadable> onFirst,
            Clock clock,
            boolean follows) {
        this.notes = notes;
        this.onFirst = onFirst;
        this.clock = clock;
        this.follows = follows;
    }

    /**
     * The same objects for a reader that hears of each change and each end of what it reads: its
     * notes last until it takes them back.
     */
    public UnreadableObjects ofFollower() {
        return new UnreadableObjects(notes, onFirst, clock, true);
    }

    /** The same objects for one more reader that looks at some now and then. */
    public UnreadableObjects ofReader() {
        return new UnreadableObjects(notes, onFirst, clock, false);
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
        } catch (StackOverflowError e) {
            note(
                    Key.of(object),
                    Unreadable.of(object, new IllegalStateException("It is nested too deep", e)));
        }
        return Optional.empty();
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
        if (!notes.isEmpty()) {
            drop(Key.of(object), (reader, _) -> reader.equals(this));
        }
    }

    /** Says that all of these have gone. */
    public void forgetAll(Predicate<Unreadable> gone) {
        dropAll((reader, note) -> reader.equals(this) && gone.test(note.object()));
    }

    /** Those that some reader cannot read now. */
    public Collection<Unreadable> present() {
        Instant now = clock.instant();
        dropAll((_, note) -> note.until().isBefore(now));
        return notes.values().stream()
                .flatMap(ofOne -> ofOne.values().stream().map(Note::object).limit(1))
                .toList();
    }

    private void note(Key key, Unreadable object) {
        boolean known = notes.containsKey(key);
        if (known || hasRoom(key)) {
            var note = new Note(object, follows ? Instant.MAX : clock.instant().plus(LAPSE));
            notes.compute(
                    key,
                    (_, ofOne) -> {
                        Map<UnreadableObjects, Note> noted =
                                ofOne == null ? new ConcurrentHashMap<>() : ofOne;
                        noted.put(this, note);
                        return noted;
                    });
            if (!known) {
                onFirst.accept(object);
            }
        }
    }

    private boolean hasRoom(Key key) {
        return notes.size() < MOST
                && notes.keySet().stream()
                                .filter(it -> Objects.equals(it.namespace(), key.namespace()))
                                .limit(MOST_OF_ONE)
                                .count()
                        < MOST_OF_ONE;
    }

    private void dropAll(BiPredicate<UnreadableObjects, Note> over) {
        notes.keySet().forEach(key -> drop(key, over));
    }

    private void drop(Key key, BiPredicate<UnreadableObjects, Note> over) {
        notes.computeIfPresent(
                key,
                (_, ofOne) -> {
                    ofOne.entrySet().removeIf(note -> over.test(note.getKey(), note.getValue()));
                    return ofOne.isEmpty() ? null : ofOne;
                });
    }
}
