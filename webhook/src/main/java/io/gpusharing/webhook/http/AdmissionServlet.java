package io.gpusharing.webhook.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.gpusharing.webhook.admission.Admission;
import io.gpusharing.webhook.admission.AdmissionMetrics;
import io.gpusharing.webhook.admission.AdmissionProperties;
import io.gpusharing.webhook.admission.WebhookType;
import io.gpusharing.webhook.review.MalformedReviewException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Optional;
import org.apache.coyote.CloseNowException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The two paths the API server posts to. A servlet and not a controller: a review is bytes in and
 * bytes out, and a fifth of its time would go to dispatching and message conversion.
 *
 * <p>Whatever is not a review gets a 4xx in one line; what cannot be answered in time gets a 503.
 * Nothing is ever allowed because something went wrong: to an error the API server's answer may be
 * to go on without us, so a review that we cannot read or judge is one that we refuse.
 */
final class AdmissionServlet extends HttpServlet {

    private static final long serialVersionUID = 1;
    private static final Logger log = LoggerFactory.getLogger(AdmissionServlet.class);

    /** Of so many processors one works at long reviews. */
    private static final int PROCESSORS_FOR_A_LONG_ONE = 4;

    private final transient Admission admission;
    private final transient AdmissionMetrics metrics;
    private final transient AdmissionProperties properties;
    private final transient ReviewSlots slots;

    private final transient BodyReader bodies;
    private final int maxBody;

    AdmissionServlet(
            Admission admission,
            AdmissionMetrics metrics,
            AdmissionProperties properties,
            HeapShares heap) {
        this.admission = admission;
        this.metrics = metrics;
        this.properties = properties;
        this.slots =
                new ReviewSlots(
                        properties.maxConcurrent(),
                        Math.ceilDiv(
                                Runtime.getRuntime().availableProcessors(),
                                PROCESSORS_FOR_A_LONG_ONE),
                        heap);
        this.maxBody = (int) Math.min(heap.longBodies(), properties.maxBody().toBytes());
        this.bodies =
                new BodyReader(
                        maxBody, heap.usualBodies(), heap.longBodies(), admission::namespace);
    }

    @Override
    protected void service(HttpServletRequest request, HttpServletResponse response)
            throws IOException {
        long began = System.nanoTime();
        Optional<WebhookType> type = type(request.getServletPath());
        if (type.isEmpty()) {
            refuse(response, HttpServletResponse.SC_NOT_FOUND, "Post to /mutate or /validate");
        } else if (!request.getMethod().equals("POST")) {
            response.setHeader("Allow", "POST");
            refuse(response, HttpServletResponse.SC_METHOD_NOT_ALLOWED, "Only POST is answered");
        } else {
            long deadline =
                    began
                            + ReviewTimeout.of(request.getQueryString(), properties.timeout())
                                    .toNanos();
            answer(type.get(), request, response, deadline);
            metrics.took(System.nanoTime() - began);
        }
    }

    private void answer(
            WebhookType type,
            HttpServletRequest request,
            HttpServletResponse response,
            long deadline)
            throws IOException {
        switch (bodies.read(
                request.getInputStream(),
                request.getRemoteAddr(),
                (int) Math.min(Integer.MAX_VALUE, request.getContentLengthLong()),
                deadline)) {
            case BodyReader.Read.TooLong(byte[] begin) ->
                    refuse(
                            response,
                            begin,
                            HttpServletResponse.SC_REQUEST_ENTITY_TOO_LARGE,
                            "A review has at most " + maxBody + " bytes");
            case BodyReader.Read.TooLate _ -> {
                shed(response);
                response.flushBuffer();
                // Else Tomcat would wait for the rest of the body, however slowly it comes.
                throw new CloseNowException("a body did not come in time");
            }
            case BodyReader.Read.Body body -> {
                try {
                    decide(type, body, response, deadline);
                } finally {
                    bodies.release(body);
                }
            }
        }
    }

    private void decide(
            WebhookType type,
            BodyReader.Read.Body body,
            HttpServletResponse response,
            long deadline)
            throws IOException {
        Optional<ReviewSlots.Slot> slot =
                slots.acquire(body, ReviewMemory.of(type, body.bytes().length), deadline);
        if (slot.isEmpty()) {
            shed(response);
            return;
        }
        try {
            answer(type, body.bytes(), response);
        } finally {
            slot.get().release();
        }
    }

    private void answer(WebhookType type, byte[] body, HttpServletResponse response)
            throws IOException {
        byte[] answer;
        try {
            answer = admission.answer(type, body);
        } catch (MalformedReviewException e) {
            refuse(
                    response,
                    body,
                    HttpServletResponse.SC_BAD_REQUEST,
                    String.valueOf(e.getMessage()));
            return;
        } catch (RuntimeException e) {
            log.atError().setCause(e).addKeyValue("type", type).log("review not answered");
            refuse(
                    response,
                    body,
                    HttpServletResponse.SC_INTERNAL_SERVER_ERROR,
                    "This review could not be answered; the webhook's log says why");
            return;
        }
        send(response, answer);
    }

    private static void send(HttpServletResponse response, byte[] answer) throws IOException {
        response.setContentType("application/json");
        response.setContentLength(answer.length);
        response.getOutputStream().write(answer);
    }

    /**
     * Refuses what a review is about; where not even that can be read, the review.
     *
     * @param begin its first bytes, or all
     */
    private void refuse(HttpServletResponse response, byte[] begin, int status, String why)
            throws IOException {
        Optional<byte[]> refusal = admission.refuse(begin, why);
        if (refusal.isPresent()) {
            metrics.malformed();
            send(response, refusal.get());
        } else {
            refuse(response, status, why);
        }
    }

    private void shed(HttpServletResponse response) throws IOException {
        metrics.shed();
        response.setHeader("Retry-After", "1");
        write(
                response,
                HttpServletResponse.SC_SERVICE_UNAVAILABLE,
                "Not read or not answered in time; try again");
    }

    private void refuse(HttpServletResponse response, int status, @Nullable String why)
            throws IOException {
        metrics.malformed();
        write(response, status, why);
    }

    private static void write(HttpServletResponse response, int status, @Nullable String why)
            throws IOException {
        byte[] line = (why + "\n").getBytes(UTF_8);
        response.setStatus(status);
        response.setContentType("text/plain;charset=utf-8");
        response.setContentLength(line.length);
        response.getOutputStream().write(line);
    }

    private static Optional<WebhookType> type(String path) {
        for (WebhookType type : WebhookType.values()) {
            if (type.path().equals(path)) {
                return Optional.of(type);
            }
        }
        return Optional.empty();
    }
}
