package io.gpusharing.timekeeper.api;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.timekeeper.api.Callers.Caller;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.security.authentication.AuthenticationManager;
import org.springframework.security.authentication.AuthenticationServiceException;
import org.springframework.security.authentication.BadCredentialsException;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.authorization.AuthorizationDecision;
import org.springframework.security.authorization.AuthorizationManager;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configurers.AbstractHttpConfigurer;
import org.springframework.security.config.http.SessionCreationPolicy;
import org.springframework.security.oauth2.server.resource.authentication.BearerTokenAuthenticationToken;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.access.intercept.RequestAuthorizationContext;

/**
 * Questions come with a Kubernetes bearer token; who may read {@code gpubudgets} may read what is
 * told of them here. So RBAC alone decides, and nothing is configured twice.
 */
@Configuration(proxyBeanMethods = false)
class ApiSecurity {

    private static final String BUDGETS = "/api/v1/budgets/";

    @Bean
    @Order(20)
    SecurityFilterChain questions(HttpSecurity http, Callers callers) throws Exception {
        AuthenticationManager manager =
                request -> {
                    String token = ((BearerTokenAuthenticationToken) request).getToken();
                    Caller caller =
                            caller(callers, token)
                                    .orElseThrow(() ->
                                            new BadCredentialsException(
                                                    "the API server does not know this token"));
                    return UsernamePasswordAuthenticationToken.authenticated(
                            caller, token, List.of());
                };
        AuthorizationManager<RequestAuthorizationContext> rights =
                (authentication, context) ->
                        new AuthorizationDecision(
                                authentication.get() != null
                                        && authentication.get().getPrincipal()
                                                instanceof Caller caller
                                        && callers.mayRead(
                                                caller,
                                                budget(context.getRequest().getRequestURI())));
        return http.securityMatcher("/api/**")
                .authorizeHttpRequests(requests -> requests.anyRequest().access(rights))
                .csrf(AbstractHttpConfigurer::disable)
                .requestCache(AbstractHttpConfigurer::disable)
                .logout(AbstractHttpConfigurer::disable)
                .sessionManagement(it -> it.sessionCreationPolicy(SessionCreationPolicy.STATELESS))
                .oauth2ResourceServer(
                        server -> server.authenticationManagerResolver(request -> manager))
                .build();
    }

    private static java.util.Optional<Caller> caller(Callers callers, String token) {
        try {
            return callers.caller(token);
        } catch (KubernetesClientException e) {
            throw new AuthenticationServiceException("the API server cannot be asked now", e);
        }
    }

    /** The budget that a path is about; null if it is about all of them. */
    private static @Nullable String budget(String path) {
        if (!path.startsWith(BUDGETS)) {
            return null;
        }
        String rest = path.substring(BUDGETS.length());
        int end = rest.indexOf('/');
        String name = end < 0 ? rest : rest.substring(0, end);
        return name.isEmpty() ? null : name;
    }
}
