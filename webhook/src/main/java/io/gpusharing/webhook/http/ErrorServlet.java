package io.gpusharing.webhook.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/**
 * What Tomcat forwards errors to: addresses that there are not, for instance. Who asks for it
 * directly is answered that there is none; Spring Boot's own page would say that something failed.
 */
final class ErrorServlet extends HttpServlet {

    private static final long serialVersionUID = 1;

    static final String PATH = "/error";

    @Override
    protected void service(HttpServletRequest request, HttpServletResponse response)
            throws IOException {
        if (response.isCommitted()) {
            // A body that did not come in time was answered before its connection was closed.
            return;
        }
        if (request.getDispatcherType() != DispatcherType.ERROR) {
            response.setStatus(HttpServletResponse.SC_NOT_FOUND);
        }
        byte[] line = ("Answered " + response.getStatus() + "\n").getBytes(UTF_8);
        response.setContentType("text/plain;charset=utf-8");
        response.setContentLength(line.length);
        response.getOutputStream().write(line);
    }
}
