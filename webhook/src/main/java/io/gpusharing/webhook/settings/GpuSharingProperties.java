package io.gpusharing.webhook.settings;

import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.NotEmpty;
import jakarta.validation.constraints.PositiveOrZero;
import java.util.List;
import java.util.Map;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.validation.annotation.Validated;

/**
 * What all parts of an installation share.
 *
 * @param namespace the namespace of our own services, where our Secrets and ConfigMaps live
 * @param resources extended resources that ask for GPUs, also the ones that the webhook
 *     configurations select; a name that ends in {@code *} stands for every name with that
 *     beginning
 * @param grammars ways of asking that are understood, in order of precedence: a resource belongs to
 *     the first grammar that reads it
 * @param customResources extended resources of the site's own, each with the micro-GPUs that one
 *     unit is worth, for instance {@code amd.com/gpu} with 1000000
 * @param metagpuUnits the resources of the grammar {@code metagpu} and how many units of each are a
 *     GPU; 100 of {@code cnvrg.io/metagpu} where it is not named
 * @param defaultMemoryPerGpu what a fraction of a GPU without {@code tencent.com/vcuda-memory} gets
 *     its part of, in blocks of 256 MiB; 0 refuses such a fraction; at most 4096, a terabyte
 * @param hamiDefaultGpus {@code defaultGPUNum} of HAMi's configuration: the {@code nvidia.com/gpu}
 *     of containers that ask only for a part; 0 if its webhook adds none
 */
@Validated
@ConfigurationProperties("gpusharing")
public record GpuSharingProperties(
        @NotBlank String namespace,
        @NotEmpty List<String> resources,
        @DefaultValue List<String> grammars,
        @DefaultValue Map<String, Long> customResources,
        @DefaultValue Map<String, Integer> metagpuUnits,
        @PositiveOrZero @Max(4096) long defaultMemoryPerGpu,
        @PositiveOrZero @Max(64) long hamiDefaultGpus) {}
