package io.gpusharing.placement;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import org.jspecify.annotations.Nullable;

/**
 * A GPU as HAMi's device plugin registers it on its node.
 *
 * @param devmem MiB, as HAMi hands them out
 * @param devcore percent of its processors, as HAMi hands them out
 * @param mode how it is shared; null if the register is older than the modes
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record HamiGpu(
        String id, long devmem, long devcore, boolean health, @Nullable String mode) {}
