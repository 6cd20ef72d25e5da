package io.gpusharing.wire;

import io.gpusharing.Names;
import io.gpusharing.sharing.ContainerAsk;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.StringJoiner;

/**
 * Where a scheduler has placed a pod, as it writes it with the binding: the pod's UID, then for
 * each container the UUIDs of its GPUs, whole ones first, {@code
 * 7b0c…;cuda=GPU-6d1f…,GPU-90aa…;preload=GPU-6d1f…}. How much each may use of them is what it asks
 * for.
 *
 * @param podUid so that it is worth nothing on another pod
 * @param gpus by container, in the order of the text
 */
public record PlacementAnnotation(String podUid, Map<String, Set<String>> gpus) {

    /** Its key. */
    public static final String KEY = Names.PREFIX + "placement";

    /** How long it may be; longer ones are not written. */
    public static final int MOST_BYTES = 8 * 1024;

    /**
     * Room beside a pod's other annotations for it, and for those by which other providers read the
     * same, with an index in the place of each UUID. The API server does not check how long
     * annotations are that come with a binding; where all together are too long it refuses every
     * later write of the pod, that of its status by its node too.
     */
    public static final int ROOM = 2 * MOST_BYTES;

    /** Letters of a pod's UID; a GPU's has {@code GPU-} before as many. */
    private static final int UID = 36;

    /** How long it is of a pod, wherever that is placed. */
    public static long bytes(List<ContainerAsk> asks) {
        return UID
                + asks.stream()
                        .mapToLong(ask ->
                                ask.container().length() + 2L + ask.ask().count() * (UID + 5L) - 1)
                        .sum();
    }

    /** Reads the annotation; empty if it is not one. */
    public static Optional<PlacementAnnotation> parse(String text) {
        String[] parts = text.split(";", -1);
        var gpus = new LinkedHashMap<String, Set<String>>();
        for (int i = 1; i < parts.length; i++) {
            int equals = parts[i].indexOf('=');
            if (equals < 1) {
                return Optional.empty();
            }
            var uuids = new LinkedHashSet<String>();
            for (String uuid : parts[i].substring(equals + 1).split(",", -1)) {
                if (uuid.isBlank() || !uuids.add(uuid)) {
                    return Optional.empty();
                }
            }
            if (gpus.put(parts[i].substring(0, equals), uuids) != null) {
                return Optional.empty();
            }
        }
        return parts[0].isBlank() || gpus.isEmpty()
                ? Optional.empty()
                : Optional.of(new PlacementAnnotation(parts[0], gpus));
    }

    /**
     * What a bound pod asks for, each container on the GPUs that the annotation names, if any. What
     * was written for another pod places nobody.
     *
     * @param asks the same wherever it fits
     * @param annotations the pod's
     */
    public static List<ContainerAsk> placed(
            List<ContainerAsk> asks, String podUid, Map<String, String> annotations) {
        return ContainerAsk.chosen(
                asks,
                Optional.ofNullable(annotations.get(KEY))
                        .flatMap(PlacementAnnotation::parse)
                        .filter(it -> it.podUid().equals(podUid))
                        .map(PlacementAnnotation::gpus)
                        .orElse(Map.of()));
    }

    /** As it is written. */
    public String text() {
        var text = new StringJoiner(";").add(podUid);
        gpus.forEach((container, uuids) -> text.add(container + "=" + String.join(",", uuids)));
        return text.toString();
    }
}
