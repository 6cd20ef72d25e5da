package io.gpusharing.timekeeper.aggregated;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;

/** At the API server's port nobody is served anything but what it passes on. */
@Component
@Order(Ordered.HIGHEST_PRECEDENCE)
class NothingElse extends OncePerRequestFilter {

    private final AggregatedConnector connector;
    private final StatusAnswers answers;

    NothingElse(AggregatedConnector connector, StatusAnswers answers) {
        this.connector = connector;
        this.answers = answers;
    }

    @Override
    protected boolean shouldNotFilter(HttpServletRequest request) {
        return Discovery.isOurs(request.getRequestURI()) || !connector.received(request);
    }

    @Override
    protected void doFilterInternal(
            HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        response.setHeader(HttpHeaders.CONNECTION, "close");
        answers.write(response, HttpStatus.NOT_FOUND, "There is nothing here");
    }
}
