package io.gpusharing.scheduler.access;

import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.NotEmpty;
import jakarta.validation.constraints.NotNull;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.validation.annotation.Validated;

/**
 * How the extender is reached over the network.
 *
 * @param enabled whether it is; otherwise it listens on the loopback of a kube-scheduler's pod, and
 *     asks nobody who they are
 * @param clients common names of client certificates that may ask where a pod goes, whom to preempt
 *     and to bind
 * @param clientAuthority a file of PEM certificates that vouch for those clients in place of the
 *     cluster's client CA; it is read again each minute
 * @param namespace of our Secret and Service
 * @param service name of the Service; the serving certificate carries its DNS names
 * @param subjectAlternativeNames further DNS names and IP addresses of the serving certificate
 * @param authority name of the Secret ({@code tls.crt}, {@code tls.key}) and of the ConfigMap
 *     ({@code ca.crt}) of the CA that signs it
 * @param authorityValidity how long a CA that has to be made is valid: its certificate is copied to
 *     the machines of the control plane by hand
 * @param certificateValidity how long a serving certificate is valid; it is renewed at two thirds
 */
@Validated
@ConfigurationProperties("gpusharing.scheduler.access")
record AccessProperties(
        @DefaultValue("false") boolean enabled,
        @NotEmpty @DefaultValue("system:kube-scheduler") List<String> clients,
        @Nullable Path clientAuthority,
        @NotBlank @DefaultValue("gpusharing-system") String namespace,
        @NotBlank @DefaultValue("gpusharing-scheduler") String service,
        @DefaultValue List<String> subjectAlternativeNames,
        @NotBlank @DefaultValue("gpusharing-scheduler-ca") String authority,
        @NotNull @DefaultValue("3650d") Duration authorityValidity,
        @NotNull @DefaultValue("7d") Duration certificateValidity) {}
