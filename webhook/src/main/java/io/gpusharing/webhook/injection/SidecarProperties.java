package io.gpusharing.webhook.injection;

import io.gpusharing.request.Quantity;
import io.gpusharing.webhook.settings.ConfigurationException;
import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Pattern;
import jakarta.validation.constraints.Positive;
import java.util.List;
import java.util.Map;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.validation.annotation.Validated;

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
@Validated
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

    /**
     * @throws ConfigurationException if an amount cannot be read, or more is requested than may be
     *     used: found now, or with the first pod that gets it
     */
    public SidecarProperties {
        requests.forEach((name, amount) -> {
            Quantity request = amount("requests", name, amount);
            String limit = limits.getOrDefault(name, amount);
            if (request.value().compareTo(amount("limits", name, limit).value()) > 0) {
                throw new ConfigurationException(
                        "gpusharing.sidecar.requests.%s is %s, more than the limit %s"
                                .formatted(name, amount, limit),
                        "Request at most the limit; the API server would refuse every pod otherwise.");
            }
        });
        limits.forEach((name, amount) -> amount("limits", name, amount));
    }

    private static Quantity amount(String kind, String name, String amount) {
        if (!name.equals("cpu") && !name.equals("memory")) {
            throw new ConfigurationException(
                    "gpusharing.sidecar.%s.%s: the metering container asks for cpu and memory alone"
                            .formatted(kind, name),
                    "Remove it.");
        }
        try {
            return Quantity.parse(amount);
        } catch (IllegalArgumentException e) {
            throw new ConfigurationException(
                    "gpusharing.sidecar.%s.%s is %s: %s"
                            .formatted(kind, name, amount, e.getMessage()),
                    "Write it as Kubernetes does, for instance 5m of cpu or 48Mi of memory.");
        }
    }

    /** Which pods get it. */
    public enum Mode {
        /** Every pod that asks for a GPU. */
        PerPod,
        /** None. */
        None
    }
}
