package io.gpusharing.webhook.injection;

import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Pattern;
import jakarta.validation.constraints.Positive;
import java.util.List;
import java.util.Map;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The container that meters a pod from inside.
 *
 * @param mode whether pods get it at all; charging goes by allocation either way
 * @param image its image, best by digest
 * @param pullPolicy {@code IfNotPresent}, {@code Always} or {@code Never}
 * @param pullSecrets names of Secrets with registry credentials; they must exist in the users'
 *     namespaces
 * @param timekeeperUrl base URL that it reports to
 * @param runAsUser numeric user, set only where the pod says 0: everywhere else the image's own
 *     user or the one that OpenShift assigns holds
 * @param requests cpu and memory that it asks for
 * @param limits cpu and memory that it may use; a quota on either needs both
 * @param env further variables
 */
@ConfigurationProperties("gpusharing.sidecar")
public record SidecarProperties(
        @NotNull Mode mode,
        @NotBlank String image,
        @Pattern(regexp = "IfNotPresent|Always|Never") String pullPolicy,
        @DefaultValue List<String> pullSecrets,
        @Pattern(regexp = "https://.+", message = "must begin with https://") String timekeeperUrl,
        @Positive long runAsUser,
        @DefaultValue Map<String, String> requests,
        @DefaultValue Map<String, String> limits,
        @DefaultValue Map<String, String> env) {

    /** Which pods get it. */
    public enum Mode {
        /** Every pod that asks for a GPU. */
        PerPod,
        /** None. */
        None
    }
}
