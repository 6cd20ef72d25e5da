package io.gpusharing.scheduler.access;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.fabric8.kubernetes.api.model.authorization.v1.ResourceAttributes;
import io.fabric8.kubernetes.api.model.authorization.v1.ResourceAttributesBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.scheduler.inspect.Inspection;
import io.gpusharing.web.AccessReviews;
import io.gpusharing.web.AccessReviews.TooManyTokensException;
import io.gpusharing.web.Caller;
import io.gpusharing.web.ClientCertificateRequest;
import io.gpusharing.web.ClientCertificates;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpFilter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;

/**
 * Lets those through who may ask, before anything of their question is read. Addresses are compared
 * as they were sent, so none that could be read in two ways gets further.
 */
final class AccessFilter extends HttpFilter {

    private static final Logger log = LoggerFactory.getLogger(AccessFilter.class);

    /**
     * More than kube-scheduler asks: a pod has 1.5 MiB at most, and the names of 5 000 nodes 0.3.
     */
    static final long MOST_BYTES = 8 * 1024 * 1024;

    /** How much memory a pod takes beside its JSON, at the worst of what is real. */
    static final int WEIGHT = 20;

    /** A kube-scheduler waits for 5 s, unless it is told otherwise. */
    private static final Duration PATIENCE = Duration.ofSeconds(3);

    private static final Set<String> QUESTIONS =
            Set.of("/filter", "/prioritize", "/preempt", "/bind");

    private static final Pattern INSPECTIONS =
            Pattern.compile("/gpushare-scheduler/inspect(/[a-z0-9][-.a-z0-9]{0,252})?");

    private static final Set<String> READING = Set.of("GET", "HEAD");
    private static final String BEARER = "Bearer ";

    private static final ResourceAttributes GET_NODES = right("get", "nodes");

    /** In all namespaces. */
    private static final ResourceAttributes LIST_PODS = right("list", "pods");

    /** Whoever configures a kube-scheduler reads it; a stranger fills no disk by it. */
    private static final Duration QUIET = Duration.ofSeconds(10);

    private final List<String> clients;
    private final transient ClientAuthorities authorities;
    private final transient AccessReviews reviews;
    private final transient Clock clock;
    private final transient Semaphore work;
    private final long mostBytes;
    private volatile Instant told = Instant.MIN;

    /**
     * @param clients common names of those who may ask where pods go
     */
    AccessFilter(
            List<String> clients,
            ClientAuthorities authorities,
            AccessReviews reviews,
            HeapShares heap,
            Clock clock) {
        this.clients = List.copyOf(clients);
        this.authorities = authorities;
        this.reviews = reviews;
        this.work = new Semaphore(heap.questions(), true);
        this.mostBytes = Math.min(MOST_BYTES, heap.questions() / WEIGHT);
        this.clock = clock;
    }

    private static ResourceAttributes right(String verb, String resource) {
        return new ResourceAttributesBuilder()
                .withGroup("")
                .withResource(resource)
                .withVerb(verb)
                .build();
    }

    /** Why somebody is not let through. */
    private record Refusal(HttpStatus status, String reason) {}

    @Override
    protected void doFilter(
            HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        Refusal refusal = refusal(request, response);
        if (refusal == null && !QUESTIONS.contains(request.getRequestURI())) {
            chain.doFilter(request, response);
            return;
        }
        if (refusal == null) {
            refusal = inTurn(request, response, chain);
        }
        if (refusal == null) {
            return;
        }
        tell(request, refusal);
        response.setStatus(refusal.status().value());
        // Strangers keep none of the few connections that there are.
        response.setHeader(HttpHeaders.CONNECTION, "close");
        response.setContentType("text/plain;charset=utf-8");
        response.getOutputStream().write((refusal.reason() + "\n").getBytes(UTF_8));
    }

    /**
     * Long questions wait for each other: what is made of one takes its memory before it is read.
     */
    private @Nullable Refusal inTurn(
            HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        int bytes = Math.toIntExact(request.getContentLengthLong() * WEIGHT);
        if (!hasWaited(bytes)) {
            response.setHeader(HttpHeaders.RETRY_AFTER, "1");
            return new Refusal(
                    HttpStatus.SERVICE_UNAVAILABLE,
                    "other questions are being answered; ask again");
        }
        try {
            chain.doFilter(request, response);
            return null;
        } finally {
            work.release(bytes);
        }
    }

    private boolean hasWaited(int bytes) {
        try {
            return work.tryAcquire(bytes, PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private @Nullable Refusal refusal(HttpServletRequest request, HttpServletResponse response) {
        String path = request.getRequestURI();
        if (QUESTIONS.contains(path)) {
            if (!request.getMethod().equals("POST")) {
                response.setHeader(HttpHeaders.ALLOW, "POST");
                return new Refusal(HttpStatus.METHOD_NOT_ALLOWED, "this takes POST alone");
            }
            return ofScheduler(request);
        }
        if (INSPECTIONS.matcher(path).matches()) {
            if (!READING.contains(request.getMethod())) {
                response.setHeader(HttpHeaders.ALLOW, "GET");
                return new Refusal(HttpStatus.METHOD_NOT_ALLOWED, "this takes GET alone");
            }
            Refusal refusal = ofReader(request);
            if (refusal != null && refusal.status() == HttpStatus.UNAUTHORIZED) {
                response.setHeader(HttpHeaders.WWW_AUTHENTICATE, "Bearer");
            }
            return refusal;
        }
        return new Refusal(HttpStatus.NOT_FOUND, "there is nothing at this address");
    }

    private @Nullable Refusal ofScheduler(HttpServletRequest request) {
        ClientCertificates known = authorities.ofSchedulers();
        if (known.isEmpty()) {
            return new Refusal(
                    HttpStatus.SERVICE_UNAVAILABLE,
                    "no authority is known that vouches for a kube-scheduler: the API server's client CA could not be read, or it has none");
        }
        List<X509Certificate> shown = shown(request);
        if (shown.isEmpty()) {
            return new Refusal(
                    HttpStatus.UNAUTHORIZED,
                    "show a client certificate: set certFile and keyFile under tlsConfig of this extender in kube-scheduler's configuration");
        }
        Optional<Caller> caller = known.caller(shown, clock.instant());
        if (caller.isEmpty()) {
            return new Refusal(
                    HttpStatus.UNAUTHORIZED,
                    "the client certificate is not valid now, is no client's, or nobody known here vouches for it");
        }
        if (!clients.contains(caller.get().name())) {
            return new Refusal(
                    HttpStatus.FORBIDDEN,
                    "this certificate's common name may not ask where pods go; scheduler.extender.clients lists those that may");
        }
        long length = request.getContentLengthLong();
        if (length < 0) {
            return new Refusal(HttpStatus.LENGTH_REQUIRED, "say how long the question is");
        }
        return length > mostBytes
                ? new Refusal(
                        HttpStatus.CONTENT_TOO_LARGE,
                        "a question has %d bytes at most, which follows from the heap"
                                .formatted(mostBytes))
                : null;
    }

    private @Nullable Refusal ofReader(HttpServletRequest request) {
        try {
            Optional<Caller> caller = reader(request);
            if (caller.isEmpty()) {
                return new Refusal(
                        HttpStatus.UNAUTHORIZED,
                        "show a token that the API server knows (kubectl create token makes one), or a client certificate of the cluster");
            }
            if (!reviews.may(caller.get(), GET_NODES)) {
                return new Refusal(HttpStatus.FORBIDDEN, "this needs the right to get nodes");
            }
            // Many a DaemonSet's account may get nodes, and knows no pod of a tenant.
            if (reviews.may(caller.get(), LIST_PODS)) {
                request.setAttribute(Inspection.SHOWS_PODS, true);
            }
            return null;
        } catch (TooManyTokensException e) {
            return new Refusal(HttpStatus.SERVICE_UNAVAILABLE, String.valueOf(e.getMessage()));
        } catch (KubernetesClientException e) {
            return new Refusal(
                    HttpStatus.SERVICE_UNAVAILABLE,
                    "the API server cannot be asked now; ask again in a few seconds");
        }
    }

    private Optional<Caller> reader(HttpServletRequest request) {
        String header = request.getHeader(HttpHeaders.AUTHORIZATION);
        if (header == null) {
            return authorities.ofUsers().caller(shown(request), clock.instant());
        }
        return header.regionMatches(true, 0, BEARER, 0, BEARER.length())
                ? reviews.caller(header.substring(BEARER.length()).strip())
                : Optional.empty();
    }

    private static List<X509Certificate> shown(HttpServletRequest request) {
        return ClientCertificateRequest.shown(
                request.getAttribute(ClientCertificateRequest.ATTRIBUTE));
    }

    private void tell(HttpServletRequest request, Refusal refusal) {
        Instant now = clock.instant();
        if (QUESTIONS.contains(request.getRequestURI()) && now.isAfter(told.plus(QUIET))) {
            told = now;
            log.atWarn()
                    .addKeyValue("from", request.getRemoteAddr())
                    .addKeyValue("status", refusal.status().value())
                    .addKeyValue("reason", refusal.reason())
                    .log("a question of a kube-scheduler was refused");
        }
    }
}
