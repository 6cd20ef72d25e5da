package io.gpusharing.timekeeper.usage;

import com.nimbusds.jose.util.JSONObjectUtils;
import io.gpusharing.timekeeper.usage.ReporterTokens.TokensUnavailableException;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.security.authentication.AuthenticationManager;
import org.springframework.security.authentication.AuthenticationServiceException;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configurers.AbstractHttpConfigurer;
import org.springframework.security.config.http.SessionCreationPolicy;
import org.springframework.security.core.AuthenticationException;
import org.springframework.security.oauth2.server.resource.authentication.BearerTokenAuthenticationToken;
import org.springframework.security.web.SecurityFilterChain;

/** Reports come with the token of the pod that they are of, and with nothing else. */
@Configuration(proxyBeanMethods = false)
class UsageSecurity {

    static final String PATH = "/api/v1/usage";

    @Bean
    @Order(10)
    SecurityFilterChain usageReports(
            HttpSecurity http, ReporterTokens tokens, UsageProperties properties) throws Exception {
        AuthenticationManager manager =
                request -> {
                    try {
                        String token = ((BearerTokenAuthenticationToken) request).getToken();
                        return new ReporterAuthentication(tokens.reporter(token));
                    } catch (TokensUnavailableException e) {
                        throw new AuthenticationServiceException(
                                "tokens cannot be verified now", e);
                    }
                };
        return http.securityMatcher(PATH)
                .authorizeHttpRequests(requests -> requests.anyRequest().authenticated())
                .csrf(AbstractHttpConfigurer::disable)
                .requestCache(AbstractHttpConfigurer::disable)
                .logout(AbstractHttpConfigurer::disable)
                .sessionManagement(it -> it.sessionCreationPolicy(SessionCreationPolicy.STATELESS))
                .oauth2ResourceServer(server ->
                        server.authenticationManagerResolver(request -> manager)
                                .authenticationEntryPoint((request, response, problem) ->
                                        refuse(response, problem, properties)))
                .build();
    }

    private static void refuse(
            HttpServletResponse response,
            AuthenticationException problem,
            UsageProperties properties)
            throws IOException {
        boolean unavailable = problem instanceof AuthenticationServiceException;
        int status = unavailable ? 503 : 401;
        if (unavailable) {
            response.setHeader(
                    HttpHeaders.RETRY_AFTER, Long.toString(properties.retryAfter().toSeconds()));
        } else {
            response.setHeader(HttpHeaders.WWW_AUTHENTICATE, "Bearer");
        }
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("title", unavailable ? "Service Unavailable" : "Unauthorized");
        body.put("status", status);
        body.put("detail", String.valueOf(problem.getMessage()));
        response.setStatus(status);
        response.setContentType(MediaType.APPLICATION_PROBLEM_JSON_VALUE);
        response.getOutputStream()
                .write(JSONObjectUtils.toJSONString(body).getBytes(StandardCharsets.UTF_8));
    }
}
