package io.gpusharing.scheduler.reservation;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.kubernetes.Unreadable;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.scheduler.testing.FakeApiServer;
import io.gpusharing.scheduler.testing.FakeApiServer.Answer;
import io.gpusharing.scheduler.testing.FakeApiServer.Request;
import io.gpusharing.web.Parts;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReservationSweepTest {

    private static final String LIST =
            """
            {"apiVersion": "gpusharing.io/v1alpha1", "kind": "GpuReservationList", "metadata": {}, "items": [
              {"metadata": {"name": "odd", "resourceVersion": "1"},
               "spec": {"priority": 0, "node": "n", "gpus": [], "until": "2027-01-01T00:00:00Z"}},
              {"metadata": {"name": "late", "resourceVersion": "2"},
               "spec": {"pod": {"namespace": "lab", "name": "p", "uid": "late"}, "priority": 0,
                        "node": "n", "gpus": [], "until": "2026-01-01T00:00:00Z"}}]}
            """;

    private final List<String> deleted = new ArrayList<>();
    private final UnreadableObjects unreadable = new UnreadableObjects(_ -> {});

    private Answer answer(Request request) {
        if (request.method().equals("DELETE")) {
            deleted.add(request.path().replaceAll(".*/", ""));
            return Answer.ok("{\"kind\": \"Status\"}");
        }
        return Answer.ok(LIST);
    }

    @Test
    void oneThatCannotBeReadKeepsNoOtherFromBeingDeleted() {
        var clock = Clock.fixed(Instant.parse("2026-11-26T12:00:00Z"), ZoneOffset.UTC);
        try (var api = new FakeApiServer(this::answer);
                KubernetesClient client = api.client()) {
            new ReservationSweep(
                            client,
                            unreadable,
                            new Parts(new SimpleMeterRegistry(), rounds -> {}, clock),
                            clock)
                    .sweep();
        }

        assertThat(deleted).containsExactly("late");
        assertThat(unreadable.present()).extracting(Unreadable::name).containsExactly("odd");
    }
}
