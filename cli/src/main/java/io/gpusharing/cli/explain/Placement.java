package io.gpusharing.cli.explain;

import static java.util.Objects.requireNonNullElse;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where a pod is or why it waits: of the timekeeper's answer what a person is shown.
 *
 * @param summary a sentence
 * @param details nodes that fit but for their GPUs, those with most hope first
 */
@JsonIgnoreProperties(ignoreUnknown = true)
record Placement(String summary, @Nullable List<Node> details) {

    /** A node. */
    @JsonIgnoreProperties(ignoreUnknown = true)
    record Node(String name, @Nullable List<Gpu> gpus) {}

    /**
     * A GPU of it.
     *
     * @param reason why the pod does not fit on it, as metrics name it; null where it does
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    record Gpu(
            @Nullable Integer index,
            String uuid,
            Amount total,
            Amount free,
            @Nullable String reason) {}

    /**
     * So much of a GPU.
     *
     * @param core hundredths of it
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    record Amount(long core, long memoryMiB) {}

    List<Node> nodes() {
        return requireNonNullElse(details, List.of());
    }
}
