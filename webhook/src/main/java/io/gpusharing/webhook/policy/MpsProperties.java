package io.gpusharing.webhook.policy;

import io.gpusharing.webhook.decision.Reaction;
import jakarta.validation.constraints.NotNull;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.validation.annotation.Validated;

/**
 * Whether pods may share GPUs by MPS.
 *
 * @param enabled whether nodes of the site may serve it
 * @param bypass what happens to a pod that asks for a part of a GPU and reaches for MPS by itself:
 *     by a variable that begins with {@code CUDA_MPS_}, {@code hostIPC}, or a hostPath to the
 *     folders of MPS daemons
 */
@Validated
@ConfigurationProperties("gpusharing.mps")
public record MpsProperties(
        @DefaultValue("false") boolean enabled, @NotNull @DefaultValue("Refuse") Reaction bypass) {

    /** Without MPS. */
    public static final MpsProperties DISABLED = new MpsProperties(false, Reaction.Refuse);
}
