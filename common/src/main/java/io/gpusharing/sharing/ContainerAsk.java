package io.gpusharing.sharing;

import io.gpusharing.request.ContainerRequest.Kind;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What one container asks for: of the one that wants whole GPUs and a part of another, one of the
 * two, the whole ones first.
 *
 * @param on the UUIDs of the GPUs that a scheduler has chosen for it; empty if none has
 */
public record ContainerAsk(String container, Kind kind, GpuAsk ask, Set<String> on) {

    /** The same, all of them on this GPU: that of the pods with which it is to share one. */
    public static List<ContainerAsk> only(List<ContainerAsk> asks, String gpu) {
        return asks.stream()
                .map(it -> new ContainerAsk(it.container, it.kind, it.ask, Set.of(gpu)))
                .toList();
    }

    /**
     * The same, each container on the GPUs that a scheduler has chosen for it.
     *
     * @param gpus UUIDs by container, whole ones first; a container that is not there may be on any
     */
    public static List<ContainerAsk> chosen(
            List<ContainerAsk> asks, Map<String, Set<String>> gpus) {
        return asks.stream()
                .map(ask ->
                        new ContainerAsk(
                                ask.container(),
                                ask.kind(),
                                ask.ask(),
                                own(ask, asks, gpus.getOrDefault(ask.container(), Set.of()))))
                .toList();
    }

    private static Set<String> own(ContainerAsk ask, List<ContainerAsk> asks, Set<String> gpus) {
        List<ContainerAsk> same =
                asks.stream().filter(it -> it.container().equals(ask.container())).toList();
        if (same.size() == 1) {
            return gpus;
        }
        // Where there are more or fewer than it asks for, nothing tells which is which.
        return gpus.size() != count(same)
                ? Set.of()
                : gpus.stream()
                        .skip(count(same.subList(0, same.indexOf(ask))))
                        .limit(ask.ask().count())
                        .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    private static int count(List<ContainerAsk> asks) {
        return asks.stream().mapToInt(ask -> ask.ask().count()).sum();
    }

    /** The same, all of them in this way. */
    public static List<ContainerAsk> shared(List<ContainerAsk> asks, Sharing sharing) {
        return sharing.equals(Sharing.TIME_SLICES)
                ? asks
                : asks.stream()
                        .map(it ->
                                new ContainerAsk(
                                        it.container, it.kind, it.ask.shared(sharing), it.on))
                        .toList();
    }
}
