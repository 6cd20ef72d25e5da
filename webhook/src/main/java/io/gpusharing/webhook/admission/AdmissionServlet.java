package io.gpusharing.webhook.admission;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.gpusharing.webhook.review.MalformedReviewException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.InputStream;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The two paths the API server posts to. A servlet and not a controller: a review is bytes in and
 * bytes out, and a fifth of its time would go to dispatching and message conversion.
 *
 * <p>Whatever is not a review gets a 4xx in one line; what cannot be answered in time gets a 503.
 * Nothing is ever allowed because something went wrong.
 */
final class AdmissionServlet extends HttpServlet {

    private static final long serialVersionUID = 1;
    private static final Logger log = LoggerFactory.getLogger(AdmissionServlet.class);

    /** Bodies in memory at the same time, as a multiple of the longest. */
    private static final int LARGEST_AT_ONCE = 4;

    private final transient Admission admission;
    private final transient AdmissionMetrics metrics;
    private final transient AdmissionProperties properties;
    private final transient Semaphore slots;
    private final transient Semaphore memory;
    private final int maxBody;

    AdmissionServlet(
            Admission admission, AdmissionMetrics metrics, AdmissionProperties properties) {
        this.admission = admission;
        this.metrics = metrics;
        this.properties = properties;
        this.slots = new Semaphore(properties.maxConcurrent());
        this.maxBody = Math.toIntExact(properties.maxBody().toBytes());
        this.memory = new Semaphore(LARGEST_AT_ONCE * maxBody);
    }

    @Override
    protected void service(HttpServletRequest request, HttpServletResponse response)
            throws IOException {
        long began = System.nanoTime();
        Optional<Question> question = question(request.getServletPath());
        if (question.isEmpty()) {
            refuse(response, HttpServletResponse.SC_NOT_FOUND, "Post to /mutate or /validate");
        } else if (!request.getMethod().equals("POST")) {
            response.setHeader("Allow", "POST");
            refuse(response, HttpServletResponse.SC_METHOD_NOT_ALLOWED, "Only POST is answered");
        } else if (request.getContentLengthLong() > maxBody) {
            refuse(
                    response,
                    HttpServletResponse.SC_REQUEST_ENTITY_TOO_LARGE,
                    "A review has at most " + maxBody + " bytes");
        } else {
            long deadline =
                    began
                            + ReviewTimeout.of(request.getQueryString(), properties.timeout())
                                    .toNanos();
            answer(question.get(), request, response, deadline);
            metrics.took(System.nanoTime() - began);
        }
    }

    private void answer(
            Question question,
            HttpServletRequest request,
            HttpServletResponse response,
            long deadline)
            throws IOException {
        int length = request.getContentLength();
        int reserved = length < 0 ? maxBody : length;
        if (!acquired(memory, reserved, deadline)) {
            shed(response);
            return;
        }
        try {
            byte[] body = body(request.getInputStream(), length);
            if (body == null) {
                refuse(
                        response,
                        HttpServletResponse.SC_REQUEST_ENTITY_TOO_LARGE,
                        "A review has at most " + maxBody + " bytes");
            } else if (!acquired(slots, 1, deadline)) {
                shed(response);
            } else {
                try {
                    answer(question, body, response);
                } finally {
                    slots.release();
                }
            }
        } finally {
            memory.release(reserved);
        }
    }

    private void answer(Question question, byte[] body, HttpServletResponse response)
            throws IOException {
        byte[] answer;
        try {
            answer = admission.answer(question, body);
        } catch (MalformedReviewException e) {
            refuse(response, HttpServletResponse.SC_BAD_REQUEST, e.getMessage());
            return;
        } catch (RuntimeException e) {
            log.atError().setCause(e).addKeyValue("question", question).log("review not answered");
            refuse(
                    response,
                    HttpServletResponse.SC_INTERNAL_SERVER_ERROR,
                    "This review could not be answered; the webhook's log says why");
            return;
        }
        response.setContentType("application/json");
        response.setContentLength(answer.length);
        response.getOutputStream().write(answer);
    }

    /** The whole body; null if it is longer than allowed. */
    private byte @Nullable [] body(InputStream in, int length) throws IOException {
        if (length >= 0) {
            byte[] body = new byte[length];
            // A client that hangs up early leaves no review, and the reader says so.
            int read = in.readNBytes(body, 0, length);
            return read == length ? body : new byte[0];
        }
        byte[] body = in.readNBytes(maxBody + 1);
        return body.length > maxBody ? null : body;
    }

    private void shed(HttpServletResponse response) throws IOException {
        metrics.shed();
        response.setHeader("Retry-After", "1");
        write(
                response,
                HttpServletResponse.SC_SERVICE_UNAVAILABLE,
                "Too many reviews at once; try again");
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

    private static boolean acquired(Semaphore permits, int count, long deadline) {
        try {
            return permits.tryAcquire(count, deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private static Optional<Question> question(String path) {
        for (Question question : Question.values()) {
            if (question.path().equals(path)) {
                return Optional.of(question);
            }
        }
        return Optional.empty();
    }
}
