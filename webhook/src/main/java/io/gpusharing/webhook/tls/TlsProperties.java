package io.gpusharing.webhook.tls;

import io.gpusharing.webhook.settings.ConfigurationException;
import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.NotNull;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.validation.annotation.Validated;

/**
 * Our own certificates.
 *
 * @param mode who makes the certificate that we serve
 * @param directory with Mounted, the files {@code tls.crt}, {@code tls.key} and {@code ca.crt}
 * @param subjectAlternativeNames DNS names and IP addresses of the serving certificate besides
 *     those of the Service, for a webhook that is registered by URL
 * @param service name of the Service that the API server calls
 * @param configuration name of the mutating and of the validating webhook configuration that get
 *     our caBundle
 * @param authorityValidity how long our authority is valid; its successor is made when two thirds
 *     have passed
 * @param certificateValidity how long a serving certificate is valid; renewed when two thirds have
 *     passed
 * @param checkInterval how often the authority's Secret and the caBundle are checked, and put right
 *     if somebody changed them
 * @param settling how long API servers are given to observe a new authority before a certificate of
 *     it is served; they observe a changed configuration in well under a second
 */
@Validated
@ConfigurationProperties("gpusharing.tls")
public record TlsProperties(
        @NotNull @DefaultValue("Own") Mode mode,
        @NotNull @DefaultValue("/etc/gpusharing/tls") Path directory,
        @DefaultValue List<String> subjectAlternativeNames,
        @NotBlank String service,
        @NotBlank String configuration,
        @NotNull Duration authorityValidity,
        @NotNull Duration certificateValidity,
        @NotNull Duration checkInterval,
        @NotNull Duration settling) {

    /** Who makes the certificate that we serve. */
    public enum Mode {
        /** We, with an authority of our own, whose certificate we write into the caBundles. */
        Own,
        /** Somebody else, such as cert-manager, who also writes the caBundles. */
        Mounted
    }

    /**
     * @throws ConfigurationException if a certificate would outlive who vouches for it
     */
    public TlsProperties {
        if (certificateValidity.multipliedBy(3).compareTo(authorityValidity) > 0
                || !certificateValidity.isPositive()) {
            throw new ConfigurationException(
                    "gpusharing.tls.certificate-validity is %s, gpusharing.tls.authority-validity %s"
                            .formatted(certificateValidity, authorityValidity),
                    "An authority is followed by the next after two thirds of its time: let a certificate be valid for at most a third of it, for instance 7d and 365d.");
        }
    }
}
