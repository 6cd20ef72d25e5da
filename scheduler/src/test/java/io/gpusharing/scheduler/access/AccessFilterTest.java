package io.gpusharing.scheduler.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.testing.SteppingClock;
import io.gpusharing.web.AccessReviews;
import io.gpusharing.web.ClientCertificateRequest;
import io.gpusharing.web.testing.ClientAuthority;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import java.io.IOException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.mock.web.MockFilterChain;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;

class AccessFilterTest {

    private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");

    private final SteppingClock clock = new SteppingClock(NOW);
    private final ClientAuthority cluster = new ClientAuthority(NOW);
    private final X509Certificate scheduler =
            cluster.client("CN=system:kube-scheduler").certificate();
    private final ReviewingApiServer apiServer = new ReviewingApiServer();
    private final KubernetesClient client = apiServer.client();

    @AfterEach
    void stop() {
        client.close();
        apiServer.close();
    }

    /**
     * @param questions how many bytes of the heap are there for them
     */
    private AccessFilter filter(int questions) {
        apiServer.trust(cluster.certificate());
        var authorities = new ClientAuthorities(client, CertificateTaskTest.properties(null));
        authorities.readClusters();
        return new AccessFilter(
                List.of("system:kube-scheduler"),
                authorities,
                new AccessReviews(client, clock, 20),
                new HeapShares(1, questions, 1),
                clock);
    }

    private static int look(AccessFilter filter, String token) throws Exception {
        var request = new MockHttpServletRequest("GET", "/gpushare-scheduler/inspect");
        request.addHeader("Authorization", "Bearer " + token);
        var response = new MockHttpServletResponse();
        filter.doFilter(request, response, new MockFilterChain());
        return response.getStatus();
    }

    @Test
    void whoeverInventsTokensHasTheApiServerAskedSeldom() throws Exception {
        AccessFilter filter = filter(1);

        var statuses = new ArrayList<Integer>();
        for (int i = 0; i < 50; i++) {
            statuses.add(look(filter, "forged-" + i));
        }

        var expected = new ArrayList<>(Collections.nCopies(20, 401));
        expected.addAll(Collections.nCopies(30, 503));
        assertThat(statuses).isEqualTo(expected);
        assertThat(apiServer.tokenReviews()).isEqualTo(20);
        // Others are answered again from the next second on.
        assertThat(look(filter, "may-get-nodes")).isEqualTo(503);
        clock.pass(Duration.ofSeconds(1));
        assertThat(look(filter, "may-get-nodes")).isEqualTo(200);
    }

    @Test
    void aLongQuestionIsReadOnceTheOneBeforeItIsAnswered() throws Exception {
        AccessFilter filter = filter(20_000);
        var reading = new Semaphore(0);
        var answered = new Semaphore(0);
        FilterChain chain =
                (_, _) -> {
                    reading.release();
                    answered.acquireUninterruptibly();
                };

        Thread first = asking(filter, chain);
        reading.acquire();
        Thread second = asking(filter, chain);
        await().until(() -> second.getState() == Thread.State.TIMED_WAITING);

        assertThat(reading.availablePermits()).isZero();
        answered.release();
        first.join();
        reading.acquire();
        answered.release();
        second.join();
    }

    @Test
    void aQuestionOfWhichMoreWouldBeMadeThanTheHeapHasIsRefusedWithTheLimit() throws Exception {
        var response = new MockHttpServletResponse();

        filter(20_000).doFilter(question(1_001), response, new MockFilterChain());

        assertThat(response.getStatus()).isEqualTo(413);
        assertThat(response.getContentAsString()).contains("1000 bytes at most");
    }

    private MockHttpServletRequest question(int length) {
        var request = new MockHttpServletRequest("POST", "/filter");
        request.setAttribute(ClientCertificateRequest.ATTRIBUTE, new X509Certificate[] {scheduler});
        request.setContent(new byte[length]);
        return request;
    }

    private Thread asking(AccessFilter filter, FilterChain chain) {
        var request = question(900);
        return Thread.startVirtualThread(() -> {
            try {
                filter.doFilter(request, new MockHttpServletResponse(), chain);
            } catch (IOException | ServletException e) {
                throw new AssertionError(e);
            }
        });
    }
}
