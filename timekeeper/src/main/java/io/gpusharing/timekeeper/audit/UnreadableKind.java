package io.gpusharing.timekeeper.audit;

import io.gpusharing.kubernetes.Unreadable;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The objects of one kind that the API server stores and that we cannot read: the ledger says of
 * them what could be known.
 *
 * @param kind as Kubernetes names it, for instance {@code Pod}
 * @param some the first {@value #NAMED} of them by name, each with what is wrong with it
 */
public record UnreadableKind(String kind, int count, List<String> some) {

    private static final int NAMED = 5;

    /** These objects by kind. */
    public static List<UnreadableKind> of(Collection<Unreadable> objects) {
        Map<String, List<Unreadable>> kinds =
                objects.stream()
                        .collect(
                                Collectors.groupingBy(
                                        Unreadable::kind, TreeMap::new, Collectors.toList()));
        return kinds.entrySet().stream()
                .map(it ->
                        new UnreadableKind(it.getKey(), it.getValue().size(), some(it.getValue())))
                .toList();
    }

    private static List<String> some(List<Unreadable> objects) {
        return objects.stream()
                .sorted(Comparator.comparing(Unreadable::namespace).thenComparing(Unreadable::name))
                .limit(NAMED)
                .map(it ->
                        "%s%s: %s"
                                .formatted(
                                        it.namespace().isEmpty() ? "" : it.namespace() + "/",
                                        it.name(),
                                        it.why()))
                .toList();
    }
}
