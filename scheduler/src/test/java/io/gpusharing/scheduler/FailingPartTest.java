package io.gpusharing.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.gpusharing.kubernetes.Rounds;
import io.gpusharing.scheduler.testing.FakeApiServer;
import io.gpusharing.scheduler.testing.FakeApiServer.Answer;
import io.gpusharing.scheduler.testing.FakeApiServer.Request;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Clock;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class FailingPartTest {

    private final BlockingQueue<Request> events = new LinkedBlockingQueue<>();

    private Answer answer(Request request) {
        if (request.path().equals("/api/v1/namespaces/gpusharing-system/pods/scheduler-0")) {
            return Answer.ok(
                    """
                    {"metadata": {"name": "scheduler-0", "namespace": "gpusharing-system", "uid": "own"}}
                    """);
        }
        events.add(request);
        return Answer.ok(request.body());
    }

    @Test
    void anEventAboutItsOwnPodSaysWhichPartOfTheSchedulerFails() throws InterruptedException {
        try (var api = new FakeApiServer(this::answer);
                KubernetesClient client = api.client()) {
            Rounds drift =
                    new SchedulerConfiguration()
                            .parts(
                                    client,
                                    "gpusharing-system",
                                    "scheduler-0",
                                    new SimpleMeterRegistry(),
                                    Clock.systemUTC())
                            .part("drift");

            drift.failed(new IllegalArgumentException("not a number"));
            drift.failed(new IllegalArgumentException("not a number"));

            // It is written by another thread.
            Request event = events.poll(10, TimeUnit.SECONDS);
            assertThat(event).isNotNull();
            assertThat(event.path()).isEqualTo("/api/v1/namespaces/gpusharing-system/events");
            assertThat(event.body())
                    .contains(
                            "\"reason\":\"PartFailing\"",
                            "\"uid\":\"own\"",
                            "\"component\":\"gpusharing-scheduler\"",
                            "Two rounds of drift");
        }
    }
}
