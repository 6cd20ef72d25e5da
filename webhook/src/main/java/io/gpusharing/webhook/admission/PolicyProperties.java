package io.gpusharing.webhook.admission;

import jakarta.validation.constraints.NotNull;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.validation.annotation.Validated;

/**
 * What happens to GPU pods that could get around metering or isolation.
 *
 * @param forgedKeys labels and annotations that only we write, already in a new pod with other
 *     values than ours; unless refused, they are overwritten
 * @param nodeName a node chosen by hand, which no scheduler has checked for free GPUs
 * @param privilegedFraction a privileged container in a pod that asks for a fraction: it sees every
 *     GPU of the node
 * @param devicePaths a hostPath volume on device nodes, which may be such a way too
 * @param visibleDevices {@code NVIDIA_VISIBLE_DEVICES} or CDI annotations set by hand
 */
@Validated
@ConfigurationProperties("gpusharing.policy")
public record PolicyProperties(
        @NotNull Reaction forgedKeys,
        @NotNull Reaction nodeName,
        @NotNull Reaction privilegedFraction,
        @NotNull Reaction devicePaths,
        @NotNull Reaction visibleDevices) {}
