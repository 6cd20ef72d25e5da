package io.gpusharing.webhook.cluster;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.gpusharing.kubernetes.ObjectInformer;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * What was read of all objects of one kind, for somebody who asks about one namespace. They change
 * with every pod of their namespace, and what changes costs no more than itself.
 *
 * @param <T> kind of the objects
 * @param <R> what is read of one
 */
final class ByNamespace<T extends HasMetadata, R> implements ObjectInformer.Handler<T> {

    private final Function<T, R> reading;

    /** By namespace and name; empty of one that cannot be read. */
    private final Map<String, Map<String, Optional<R>>> known = new ConcurrentHashMap<>();

    ByNamespace(Function<T, R> reading) {
        this.reading = reading;
    }

    /** What was read of those of a namespace. */
    List<R> in(String namespace) {
        return of(namespace).values().stream().flatMap(Optional::stream).toList();
    }

    /** Names of those of a namespace that cannot be read. */
    List<String> unreadIn(String namespace) {
        return of(namespace).entrySet().stream()
                .filter(object -> object.getValue().isEmpty())
                .map(Map.Entry::getKey)
                .toList();
    }

    private Map<String, Optional<R>> of(String namespace) {
        return known.getOrDefault(namespace, Map.of());
    }

    @Override
    public void onUpdate(T object) {
        try {
            put(object, Optional.of(reading.apply(object)));
        } catch (RuntimeException e) {
            // What it said before may have been loosened or tightened since: it is not known now.
            put(object, Optional.empty());
            throw e;
        }
    }

    private void put(T object, Optional<R> read) {
        known.computeIfAbsent(object.getMetadata().getNamespace(), _ -> new ConcurrentHashMap<>())
                .put(object.getMetadata().getName(), read);
    }

    @Override
    public void onDelete(T object) {
        known.computeIfPresent(
                object.getMetadata().getNamespace(),
                (_, objects) -> {
                    objects.remove(object.getMetadata().getName());
                    return objects.isEmpty() ? null : objects;
                });
    }
}
