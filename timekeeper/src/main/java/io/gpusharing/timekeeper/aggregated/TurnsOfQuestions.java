package io.gpusharing.timekeeper.aggregated;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.core.MethodParameter;
import org.springframework.http.MediaType;
import org.springframework.http.converter.HttpMessageConverter;
import org.springframework.http.server.ServerHttpRequest;
import org.springframework.http.server.ServerHttpResponse;
import org.springframework.http.server.ServletServerHttpRequest;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.servlet.mvc.method.annotation.ResponseBodyAdvice;

/**
 * Questions by way of the API server take turns: the ledger is written by the same processors and
 * connections to the database. A turn ends before the answer is sent, so whoever reads theirs
 * slowly keeps nobody waiting. What is created and what is downloaded has bounds of its own.
 */
@RestControllerAdvice
class TurnsOfQuestions implements HandlerInterceptor, ResponseBodyAdvice<Object>, WebMvcConfigurer {

    /** Half of the connections to the database. */
    private static final int AT_ONCE = 4;

    /** The other half of the port's threads refuses, and says what there is to ask. */
    private static final int WAITING = 4;

    private static final int OF_ONE = 3;

    /** Clients of clusters ask again by themselves where they are told when. */
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private static final String TURN = TurnsOfQuestions.class.getName();

    private final Turns turns = new Turns(AT_ONCE, WAITING, OF_ONE, PATIENCE);

    @Override
    public void addInterceptors(InterceptorRegistry registry) {
        registry.addInterceptor(this).addPathPatterns(Discovery.PATH + "/{resource}/**");
    }

    /**
     * Waits for a turn.
     *
     * @return false if there is none: whoever asks is to come again
     */
    boolean begin(HttpServletRequest request, String caller) {
        boolean begun = turns.begin(caller);
        if (begun) {
            request.setAttribute(TURN, caller);
        }
        return begun;
    }

    /** Leaves it to the next, unless that was done already. */
    void end(HttpServletRequest request) {
        if (request.getAttribute(TURN) instanceof String caller) {
            request.removeAttribute(TURN);
            turns.end(caller);
        }
    }

    /** What writes its answer itself, a download, has a bound of its own. */
    @Override
    public boolean preHandle(
            HttpServletRequest request, HttpServletResponse response, Object handler) {
        if (handler instanceof HandlerMethod method && method.isVoid()) {
            end(request);
        }
        return true;
    }

    @Override
    public boolean supports(
            MethodParameter returned, Class<? extends HttpMessageConverter<?>> converter) {
        return true;
    }

    @Override
    public @Nullable Object beforeBodyWrite(
            @Nullable Object body,
            MethodParameter returned,
            MediaType type,
            Class<? extends HttpMessageConverter<?>> converter,
            ServerHttpRequest request,
            ServerHttpResponse response) {
        if (request instanceof ServletServerHttpRequest servlet) {
            end(servlet.getServletRequest());
        }
        return body;
    }
}
