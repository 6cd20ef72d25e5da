package io.gpusharing.timekeeper.web;

import java.io.IOException;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.catalina.core.StandardHost;
import org.apache.catalina.valves.ErrorReportValve;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.tomcat.ConfigurableTomcatWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.stereotype.Component;
import tools.jackson.databind.json.JsonMapper;

/**
 * What Tomcat refuses before anybody of ours reads it, for instance an address of ten thousand
 * letters, is answered as every other error.
 */
@Component
class UnreadRequests implements WebServerFactoryCustomizer<ConfigurableTomcatWebServerFactory> {

    @Override
    public void customize(ConfigurableTomcatWebServerFactory factory) {
        factory.addContextCustomizers(context -> {
            if (context.getParent() instanceof StandardHost host) {
                host.setErrorReportValveClass(Problem.class.getName());
            }
        });
    }

    /** Made by Tomcat itself, by name. */
    public static final class Problem extends ErrorReportValve {

        private static final JsonMapper JSON = JsonMapper.shared();

        @Override
        protected void report(Request request, Response response, @Nullable Throwable unforeseen) {
            HttpStatus status = HttpStatus.resolve(response.getStatus());
            if (status == null || !status.isError() || !response.setErrorReported()) {
                return;
            }
            var problem =
                    ProblemDetail.forStatusAndDetail(
                            status,
                            "The request was not read: "
                                    + (status == HttpStatus.BAD_REQUEST
                                            ? "its address or a header is too long or has characters that cannot be"
                                            : status.getReasonPhrase()));
            try {
                response.setContentType(MediaType.APPLICATION_PROBLEM_JSON_VALUE);
                response.getReporter().write(JSON.writeValueAsString(problem));
                response.finishResponse();
            } catch (IOException | IllegalStateException e) {
                // Whoever asked is gone.
            }
        }
    }
}
