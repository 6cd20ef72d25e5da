package io.gpusharing.timekeeper.web;

import java.time.Duration;
import java.util.List;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The serving certificate, signed by the reporting CA, which the cluster's one Secret holds.
 *
 * @param service name of the Service; the certificate carries its DNS names
 * @param subjectAlternativeNames further DNS names and IP addresses
 * @param authority name of the CA's Secret ({@code tls.crt}, {@code tls.key}) and of the ConfigMap
 *     ({@code ca.crt}) with its certificate
 * @param authorityValidity how long a CA that has to be made is valid
 * @param certificateValidity how long a certificate is valid; it is renewed at two thirds
 * @param check how often Secret and ConfigMap are checked
 */
@ConfigurationProperties("gpusharing.tls")
record TlsProperties(
        @DefaultValue("gpusharing-timekeeper") String service,
        @DefaultValue List<String> subjectAlternativeNames,
        @DefaultValue("gpusharing-reporting-ca") String authority,
        @DefaultValue("3650d") Duration authorityValidity,
        @DefaultValue("7d") Duration certificateValidity,
        @DefaultValue("1m") Duration check) {}
