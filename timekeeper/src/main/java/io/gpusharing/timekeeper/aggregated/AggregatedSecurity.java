package io.gpusharing.timekeeper.aggregated;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.timekeeper.web.Callers;
import io.gpusharing.web.Caller;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configurers.AbstractHttpConfigurer;
import org.springframework.security.config.http.SessionCreationPolicy;
import org.springframework.security.core.context.SecurityContext;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.access.intercept.AuthorizationFilter;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Only the API server is let through, for whom it names. It has asked RBAC already; we ask again,
 * so that a mistake in what it lets pass shows nobody anything.
 */
@Configuration(proxyBeanMethods = false)
class AggregatedSecurity {

    @Bean
    @Order(15)
    SecurityFilterChain aggregated(
            HttpSecurity http,
            FrontProxies proxies,
            Callers callers,
            StatusAnswers answers,
            TurnsOfQuestions turns)
            throws Exception {
        return http.securityMatcher("/apis/**", "/openapi/**")
                .authorizeHttpRequests(requests -> requests.anyRequest().authenticated())
                .addFilterBefore(
                        new PassedOn(proxies, callers, answers, turns), AuthorizationFilter.class)
                .csrf(AbstractHttpConfigurer::disable)
                .anonymous(AbstractHttpConfigurer::disable)
                .requestCache(AbstractHttpConfigurer::disable)
                .logout(AbstractHttpConfigurer::disable)
                .sessionManagement(it -> it.sessionCreationPolicy(SessionCreationPolicy.STATELESS))
                .build();
    }

    private static final class PassedOn extends OncePerRequestFilter {

        private final FrontProxies proxies;
        private final Callers callers;
        private final StatusAnswers answers;
        private final TurnsOfQuestions turns;

        PassedOn(
                FrontProxies proxies,
                Callers callers,
                StatusAnswers answers,
                TurnsOfQuestions turns) {
            this.proxies = proxies;
            this.callers = callers;
            this.answers = answers;
            this.turns = turns;
        }

        @Override
        protected void doFilterInternal(
                HttpServletRequest request, HttpServletResponse response, FilterChain chain)
                throws ServletException, IOException {
            Optional<Caller> caller = proxies.caller(request);
            if (caller.isEmpty()) {
                response.setHeader(HttpHeaders.CONNECTION, "close");
                answers.write(
                        response,
                        HttpStatus.UNAUTHORIZED,
                        "This is asked by way of the API server: kubectl get --raw "
                                + request.getRequestURI());
                return;
            }
            Optional<Question> question =
                    Question.of(
                            request.getMethod(),
                            request.getServletPath(),
                            request.getParameter("fieldSelector"));
            try {
                if (question.isPresent() && !may(caller.get(), question.get())) {
                    answers.write(
                            response,
                            HttpStatus.FORBIDDEN,
                            question.get().forbidden(caller.get().name()));
                    return;
                }
            } catch (KubernetesClientException e) {
                response.setHeader(HttpHeaders.RETRY_AFTER, "2");
                answers.write(
                        response,
                        HttpStatus.SERVICE_UNAVAILABLE,
                        "The API server cannot be asked now whether you may; ask again in a few seconds");
                return;
            }
            SecurityContext context = SecurityContextHolder.createEmptyContext();
            context.setAuthentication(
                    UsernamePasswordAuthenticationToken.authenticated(
                            caller.get(), null, List.of()));
            SecurityContextHolder.setContext(context);
            if (question.isEmpty() || question.get().verb().equals("create")) {
                chain.doFilter(request, response);
            } else if (turns.begin(request, caller.get().name())) {
                try {
                    chain.doFilter(request, response);
                } finally {
                    turns.end(request);
                }
            } else {
                response.setHeader(HttpHeaders.RETRY_AFTER, "1");
                answers.write(
                        response,
                        HttpStatus.TOO_MANY_REQUESTS,
                        "Too many questions are asked at this moment; ask again in a second");
            }
        }

        private boolean may(Caller caller, Question question) {
            return question.rights().stream().anyMatch(right -> callers.may(caller, right));
        }
    }
}
