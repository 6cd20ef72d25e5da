package io.gpusharing.scheduler.access;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.testing.SteppingClock;
import io.gpusharing.web.AccessReviews;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.mock.web.MockFilterChain;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;

class AccessFilterTest {

    private static int look(AccessFilter filter, String token) throws Exception {
        var request = new MockHttpServletRequest("GET", "/gpushare-scheduler/inspect");
        request.addHeader("Authorization", "Bearer " + token);
        var response = new MockHttpServletResponse();
        filter.doFilter(request, response, new MockFilterChain());
        return response.getStatus();
    }

    @Test
    void whoeverInventsTokensHasTheApiServerAskedSeldom() throws Exception {
        var clock = new SteppingClock(Instant.parse("2026-03-01T12:00:00Z"));
        try (var apiServer = new FakeApiServer();
                KubernetesClient client = apiServer.client()) {
            var filter =
                    new AccessFilter(
                            List.of(),
                            new ClientAuthorities(client, CertificateTaskTest.properties(null)),
                            new AccessReviews(client, clock, 20),
                            clock);

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
    }
}
