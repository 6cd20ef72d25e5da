package io.gpusharing.cli.inspect;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A GPU of a node, and who has parts of it.
 *
 * @param index its number on the node
 * @param uuid null where nobody says, as the model
 * @param state {@link #IDLE}, {@link #SHARED}, {@link #WHOLE}, {@link #UNHEALTHY} or {@link #MIG}
 * @param reason what is wrong with it; null if nothing is, or nobody says
 * @param core hundredths of its processors of which pods get some; null where they ask for memory
 *     alone
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record HostGpu(
        int index,
        @Nullable String uuid,
        @Nullable String model,
        String state,
        @Nullable String reason,
        @Nullable Long core,
        long memoryMiB,
        List<PodPart> pods) {

    static final String IDLE = "Idle";
    static final String SHARED = "Shared";

    /** One pod has all of it. */
    static final String WHOLE = "Whole";

    static final String UNHEALTHY = "Unhealthy";

    /** Split, and its parts are handed out by another device plugin. */
    static final String MIG = "Mig";

    HostGpu {
        pods = pods.stream().sorted(PodPart.BY_NAME).toList();
    }

    /** Whether nobody gets a part of it here. */
    boolean isSplit() {
        return state.equals(MIG);
    }

    @JsonProperty
    @Nullable Long allocatedCore() {
        return core == null
                ? null
                : Long.valueOf(
                        pods.stream()
                                .map(PodPart::core)
                                .filter(Objects::nonNull)
                                .mapToLong(Long::longValue)
                                .sum());
    }

    @JsonProperty
    long allocatedMemoryMiB() {
        return pods.stream().mapToLong(PodPart::memoryMiB).sum();
    }
}
