package io.gpusharing.timekeeper.usage.reporter;

import io.gpusharing.timekeeper.usage.UsageProperties;
import io.gpusharing.timekeeper.web.ProblemWriter;
import io.micrometer.observation.ObservationPredicate;
import jakarta.servlet.http.HttpServletRequest;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpHeaders;
import org.springframework.http.server.observation.ServerRequestObservationContext;
import org.springframework.security.authentication.AuthenticationManager;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configurers.AbstractHttpConfigurer;
import org.springframework.security.config.observation.SecurityObservationSettings;
import org.springframework.security.oauth2.server.resource.authentication.BearerTokenAuthenticationToken;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.context.RequestAttributeSecurityContextRepository;
import org.springframework.security.web.firewall.HttpFirewall;
import org.springframework.security.web.firewall.StrictHttpFirewall;

/** Reports come with the token of the pod that they are of, and with nothing else. */
@Configuration(proxyBeanMethods = false)
public class UsageSecurity {

    public static final String PATH = "/api/v1/usage";

    private static final String SCHEME = "Bearer ";

    @Bean
    @Order(10)
    SecurityFilterChain usageReports(
            HttpSecurity http,
            ReporterTokens tokens,
            UsageProperties properties,
            ProblemWriter problems)
            throws Exception {
        AuthenticationManager manager =
                request ->
                        UsernamePasswordAuthenticationToken.authenticated(
                                tokens.reporter(
                                        ((BearerTokenAuthenticationToken) request).getToken()),
                                null,
                                List.of());
        return http.securityMatcher(PATH)
                .authorizeHttpRequests(requests -> requests.anyRequest().authenticated())
                .csrf(AbstractHttpConfigurer::disable)
                .requestCache(AbstractHttpConfigurer::disable)
                .logout(AbstractHttpConfigurer::disable)
                // Thousands of reports a second come from meters: what is there for browsers would
                // cost more than the report.
                .anonymous(AbstractHttpConfigurer::disable)
                .headers(AbstractHttpConfigurer::disable)
                .sessionManagement(AbstractHttpConfigurer::disable)
                .securityContext(it ->
                        it.securityContextRepository(
                                new RequestAttributeSecurityContextRepository()))
                .oauth2ResourceServer(server ->
                        server.bearerTokenResolver(UsageSecurity::token)
                                .authenticationManagerResolver(request -> manager)
                                .authenticationEntryPoint(
                                        problems.entryPoint(properties.retryAfter())))
                .build();
    }

    /**
     * Whether it looks like a token is seen when it is verified, once, and not each time it comes.
     */
    private static @Nullable String token(HttpServletRequest request) {
        String header = request.getHeader(HttpHeaders.AUTHORIZATION);
        if (header == null || !header.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
            return null;
        }
        String token = header.substring(SCHEME.length()).strip();
        return token.isEmpty() ? null : token;
    }

    private static final char DELETE = 0x7f;

    /**
     * The usual rule, that no header has control characters, without the regular expression that
     * goes over a token of a thousand letters more slowly than everything else that is done to it.
     * Bytes above 127 are parts of letters: an API server sends names in UTF-8.
     */
    @Bean
    static HttpFirewall firewall() {
        var firewall = new StrictHttpFirewall();
        firewall.setAllowedHeaderValues(
                value -> value.chars().noneMatch(it -> it < ' ' || it == DELETE));
        return firewall;
    }

    /** Each of a dozen filters would be timed, for each report. */
    @Bean
    static SecurityObservationSettings unobservedFilters() {
        return SecurityObservationSettings.noObservations();
    }

    /** Reports have metrics of their own. */
    @Bean
    static ObservationPredicate unobservedReports() {
        return (name, context) ->
                !(context instanceof ServerRequestObservationContext request
                        && isReport(request.getCarrier()));
    }

    private static boolean isReport(@Nullable HttpServletRequest request) {
        return request != null && PATH.equals(request.getRequestURI());
    }
}
