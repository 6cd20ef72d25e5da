package io.gpusharing.timekeeper.web;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.web.AccessReviews.TooManyTokensException;
import io.gpusharing.web.Caller;
import jakarta.servlet.http.HttpServletRequest;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
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
import org.springframework.security.web.firewall.RequestRejectedHandler;

/**
 * Requests carry a Kubernetes bearer token, and the cluster's RBAC alone decides. Reading about a
 * budget takes the right to read that {@code GpuBudget}; granting time takes the right to update
 * it. Reading about pods takes the right to get the pods of their namespace or, for all namespaces,
 * to update budgets. Metrics that name budgets take the right to get {@code /metrics}, as those of
 * Kubernetes' own components do. The description of the interface is open to all.
 */
@Configuration(proxyBeanMethods = false)
class ApiSecurity {

    private static final String BUDGETS = "/api/v1/budgets/";
    private static final String PODS = "/api/v1/pods";
    private static final Set<String> ABOUT_PODS =
            Set.of(PODS, "/api/v1/waste", "/api/v1/usage/pods", "/api/v1/evictions");

    private static final String METRICS = "/api/v1/metrics";

    private static final String LOGGERS = "/api/v1/loggers";

    /**
     * The loggers whose levels may be changed: at their finest levels, HTTP servers and clients log
     * headers, and with them the callers' tokens.
     */
    private static final String OUR_LOGGERS = LOGGERS + "/io.gpusharing";

    /** Answers about all namespaces at once, or about the ledger itself. */
    private static final Set<String> OF_ADMINISTRATORS =
            Set.of("/api/v1/verify", "/api/v1/reconcile");

    private static final Set<String> READING = Set.of("GET", "HEAD", "OPTIONS");

    private static final Duration RETRY_AFTER = Duration.ofSeconds(2);

    /** No right would help. */
    private static final Set<String> TAKEN_NOWHERE = Set.of("DELETE", "PATCH");

    @Bean
    @Order(20)
    SecurityFilterChain questions(HttpSecurity http, Callers callers, ProblemWriter problems)
            throws Exception {
        AuthenticationManager manager =
                request -> {
                    String token = ((BearerTokenAuthenticationToken) request).getToken();
                    Caller caller =
                            caller(callers, token)
                                    .orElseThrow(() ->
                                            new BadCredentialsException(
                                                    "The API server does not know this token; kubectl create token makes one"));
                    return UsernamePasswordAuthenticationToken.authenticated(
                            caller, token, List.of());
                };
        AuthorizationManager<RequestAuthorizationContext> rights =
                (authentication, context) ->
                        new AuthorizationDecision(
                                authentication.get() != null
                                        && authentication.get().getPrincipal()
                                                instanceof Caller caller
                                        && rule(callers, context.getRequest())
                                                .allows()
                                                .test(caller));
        return http.securityMatcher("/api/**")
                .authorizeHttpRequests(requests ->
                        requests.requestMatchers("/api/v1/openapi", "/api/v1/openapi.yaml")
                                .permitAll()
                                .anyRequest()
                                .access(rights))
                .csrf(AbstractHttpConfigurer::disable)
                .requestCache(AbstractHttpConfigurer::disable)
                .logout(AbstractHttpConfigurer::disable)
                .sessionManagement(it -> it.sessionCreationPolicy(SessionCreationPolicy.STATELESS))
                .exceptionHandling(it ->
                        it.accessDeniedHandler((request, response, denied) -> {
                            if (TAKEN_NOWHERE.contains(request.getMethod())) {
                                response.setHeader(HttpHeaders.ALLOW, "GET");
                                problems.write(
                                        response,
                                        HttpStatus.METHOD_NOT_ALLOWED,
                                        request.getMethod() + " is taken nowhere here");
                            } else {
                                problems.write(
                                        response,
                                        HttpStatus.FORBIDDEN,
                                        rule(callers, request).needed());
                            }
                        }))
                .oauth2ResourceServer(server ->
                        server.authenticationManagerResolver(request -> manager)
                                .authenticationEntryPoint(problems.entryPoint(RETRY_AFTER)))
                .build();
    }

    /** An address that could be read in two ways, for instance with {@code //}, is not read. */
    @Bean
    RequestRejectedHandler unclearAddresses(ProblemWriter problems) {
        return (request, response, rejected) ->
                problems.write(response, HttpStatus.BAD_REQUEST, rejected.getMessage());
    }

    /**
     * Who may.
     *
     * @param needed what the others are told
     */
    private record Rule(Predicate<Caller> allows, String needed) {}

    private static Rule rule(Callers callers, HttpServletRequest request) {
        String path = request.getServletPath();
        if (changesForeignLogger(request)) {
            return new Rule(
                    caller -> false,
                    "Only loggers of io.gpusharing can be changed: others may write tokens");
        }
        if (path.equals(METRICS)) {
            return new Rule(
                    callers::mayReadMetrics,
                    "This needs the right to get /metrics; cluster role gpusharing-metrics-reader gives it");
        }
        if (path.startsWith(LOGGERS) || OF_ADMINISTRATORS.contains(path)) {
            return new Rule(
                    caller -> callers.mayChange(caller, null),
                    "This needs the right to update gpubudgets.gpusharing.io; cluster role gpusharing-budget-admin gives it");
        }
        if (ABOUT_PODS.contains(path)) {
            String namespace = request.getParameter("namespace");
            return new Rule(
                    caller ->
                            namespace == null
                                    ? callers.mayChange(caller, null)
                                    : callers.mayReadPods(caller, namespace),
                    "This needs the right to get pods in the namespace that ?namespace= names; without it, to update gpubudgets.gpusharing.io");
        }
        if (path.startsWith(PODS + "/")) {
            // Whose pods those are is known once the path was read, or the pod was looked up:
            // PodController and PlacementController ask then.
            return new Rule(caller -> true, "This needs a token");
        }
        String budget = budget(path);
        boolean reading = READING.contains(request.getMethod());
        return new Rule(
                caller ->
                        reading
                                ? callers.mayRead(caller, budget)
                                : callers.mayChange(caller, budget),
                "This needs the right to %s gpubudgets.gpusharing.io%s; cluster role gpusharing-budget-%s gives it"
                        .formatted(
                                reading ? budget == null ? "list" : "get" : "update",
                                budget == null ? "" : "/" + budget,
                                reading ? "reader" : "admin"));
    }

    private static boolean changesForeignLogger(HttpServletRequest request) {
        String path = request.getServletPath();
        return path.startsWith(LOGGERS)
                && !READING.contains(request.getMethod())
                && !path.equals(OUR_LOGGERS)
                && !path.startsWith(OUR_LOGGERS + ".");
    }

    private static Optional<Caller> caller(Callers callers, String token) {
        try {
            return callers.caller(token);
        } catch (KubernetesClientException e) {
            throw new AuthenticationServiceException("The API server cannot be asked now", e);
        } catch (TooManyTokensException e) {
            throw new AuthenticationServiceException(String.valueOf(e.getMessage()), e);
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
