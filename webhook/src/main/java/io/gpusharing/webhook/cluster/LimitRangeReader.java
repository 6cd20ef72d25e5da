package io.gpusharing.webhook.cluster;

import io.fabric8.kubernetes.api.model.LimitRange;
import io.fabric8.kubernetes.api.model.LimitRangeItem;
import io.gpusharing.kubernetes.ResourceReader;
import io.gpusharing.request.Quantity;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads LimitRanges as they are in the cluster. */
final class LimitRangeReader {

    private LimitRangeReader() {}

    static ContainerLimits limits(LimitRange found) {
        // One that was created without limits is stored with null.
        List<LimitRangeItem> items = found.getSpec() == null ? null : found.getSpec().getLimits();
        return ContainerLimits.of(
                Objects.requireNonNullElse(items, List.<LimitRangeItem>of()).stream()
                        .map(LimitRangeReader::limits)
                        .toList());
    }

    private static ContainerLimits limits(LimitRangeItem item) {
        return switch (item.getType()) {
            case "Container" ->
                    new ContainerLimits(
                            amounts(item.getMin()),
                            amounts(item.getMax()),
                            Map.of(),
                            amounts(item.getMaxLimitRequestRatio()),
                            defaulted(item));
            case "Pod" ->
                    new ContainerLimits(
                            Map.of(),
                            Map.of(),
                            amounts(item.getMax()),
                            // Of GPUs all containers of the pod together count: ours may have none.
                            ResourceReader.amounts(
                                    item.getMaxLimitRequestRatio(), name -> name.indexOf('/') < 0));
            default -> ContainerLimits.NONE;
        };
    }

    /** The API server has written the maximum where a default was left out. */
    private static Set<String> defaulted(LimitRangeItem item) {
        var names = new HashSet<String>();
        Stream.of(item.getDefault(), item.getDefaultRequest())
                .filter(Objects::nonNull)
                .forEach(amounts -> names.addAll(amounts.keySet()));
        return names;
    }

    private static Map<String, Quantity> amounts(
            @Nullable Map<String, io.fabric8.kubernetes.api.model.Quantity> found) {
        return ResourceReader.amounts(found, _ -> true);
    }
}
