package io.gpusharing.wire;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;
import io.gpusharing.request.ContainerRequest;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a node's device plugin says in the status of its {@code GpuNode}; of it only what is read.
 *
 * @param resources by which pods ask for its GPUs, none while another provider offers them; null
 *     where an older one wrote it
 * @param gpus all GPUs of the node
 * @param refused pods that it did not let start; null where an older one wrote it
 * @param tier how those who share a GPU are kept apart: {@link #COOPERATIVE} where it serves MPS;
 *     null where it is not read
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record GpuNodeStatus(
        @Nullable List<String> resources,
        @Nullable List<Gpu> gpus,
        @Nullable List<Refused> refused,
        @Nullable String tier) {

    /** The tier of a node that serves MPS. */
    public static final String COOPERATIVE = "Cooperative";

    public GpuNodeStatus(
            @Nullable List<String> resources,
            @Nullable List<Gpu> gpus,
            @Nullable List<Refused> refused) {
        this(resources, gpus, refused, null);
    }

    /**
     * One GPU. What the definition does not require may be absent: were that not read, one such
     * object would make every list fail.
     *
     * @param index its number by NVML; the definition takes every number of 64 bits
     * @param model its model by NVML
     * @param mig whether it is split, and its parts are another plugin's
     * @param health {@code Healthy} while containers may start on it
     * @param reason what is wrong with it, in words; null while it is healthy
     * @param mode {@code Whole} while one container has all of it
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Gpu(
            String uuid,
            @Nullable Long index,
            @Nullable String model,
            @Nullable Long memoryMiB,
            @Nullable Boolean mig,
            String health,
            @Nullable String reason,
            String mode,
            @Nullable List<Grant> grants) {}

    /**
     * What a container was given of it.
     *
     * @param domain the domain in which it shares the GPU by MPS; null if it takes turns
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Grant(
            String podUid,
            String namespace,
            String pod,
            String container,
            ContainerRequest.@Nullable Kind kind,
            @Nullable Long core,
            @Nullable Long memoryMiB,
            @Nullable String domain) {}

    /**
     * A pod that the device plugin did not let start.
     *
     * @param since when the first attempt began that was refused, RFC 3339
     * @param until when a container was let start after all, or the pod was to end; null while it
     *     waits
     * @param isFinal whether no later attempt on this node can succeed
     * @param ran whether a container with GPUs had been let start before
     * @param reason in words
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Refused(
            String podUid,
            String namespace,
            String pod,
            String since,
            @Nullable String until,
            @JsonProperty("final") boolean isFinal,
            boolean ran,
            String reason) {}
}
