package io.gpusharing.timekeeper.aggregated;

import jakarta.servlet.http.HttpServletRequest;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.springframework.core.MethodParameter;
import org.springframework.http.MediaType;
import org.springframework.http.converter.HttpMessageConverter;
import org.springframework.http.server.ServerHttpRequest;
import org.springframework.http.server.ServerHttpResponse;
import org.springframework.http.server.ServletServerHttpRequest;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.servlet.mvc.method.annotation.ResponseBodyAdvice;

/**
 * Whose question is looked up now, and whose next. The ledger is written by the same processors and
 * the same database, and however many ask, half of the connections are left to it. A turn ends
 * before the answer is sent: whoever reads theirs slowly keeps nobody else waiting.
 */
@RestControllerAdvice
class Turns implements ResponseBodyAdvice<Object> {

    private static final int AT_ONCE = 4;

    /** The other half of the port's threads refuses, and says what there is to ask. */
    private static final int WAITING = 4;

    /** Clients of clusters ask again by themselves where they are told when. */
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private static final String TURN = Turns.class.getName();

    private final Semaphore free = new Semaphore(AT_ONCE, true);

    /**
     * Waits for a turn.
     *
     * @return false if there are too many others; whoever asks is to come again
     */
    boolean begin(HttpServletRequest request) {
        try {
            if (free.getQueueLength() >= WAITING
                    || !free.tryAcquire(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
                return false;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
        request.setAttribute(TURN, true);
        return true;
    }

    /** Leaves it to the next, unless that was done already. */
    void end(HttpServletRequest request) {
        if (request.getAttribute(TURN) != null) {
            request.removeAttribute(TURN);
            free.release();
        }
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
