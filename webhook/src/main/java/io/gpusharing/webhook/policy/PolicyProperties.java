package io.gpusharing.webhook.policy;

import io.gpusharing.webhook.decision.Reaction;
import jakarta.validation.constraints.NotNull;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.validation.annotation.Validated;

/**
 * What happens to GPU pods that could get around metering or isolation.
 *
 * @param forgedKeys labels and annotations that only we write, already in a new pod with other
 *     values than ours; unless refused, they are overwritten
 * @param nodeName a node chosen by hand, which no scheduler has checked for free GPUs
 * @param privilegedFraction a privileged container that asks for a GPU, in a pod that asks for a
 *     fraction: it sees every GPU of the node
 * @param privilegedBeside a privileged container that asks for none, in a pod that asks for a
 *     fraction: it could as well run in a pod of its own, which nobody refuses
 * @param devicePaths a hostPath volume on device nodes, in a pod that asks for a fraction
 * @param visibleDevices {@code NVIDIA_VISIBLE_DEVICES} or CDI annotations set by hand, in a pod
 *     that asks for a fraction
 * @param wholeGpuDevicePaths the same volume where whole GPUs are asked for
 * @param wholeGpuVisibleDevices the same variable and annotations where whole GPUs are asked for
 */
@Validated
@ConfigurationProperties("gpusharing.policy")
public record PolicyProperties(
        @NotNull Reaction forgedKeys,
        @NotNull Reaction nodeName,
        @NotNull Reaction privilegedFraction,
        @NotNull Reaction privilegedBeside,
        @NotNull Reaction devicePaths,
        @NotNull Reaction visibleDevices,
        @NotNull Reaction wholeGpuDevicePaths,
        @NotNull Reaction wholeGpuVisibleDevices) {}
