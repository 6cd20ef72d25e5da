package io.gpusharing.scheduler.evicting;

import static io.gpusharing.scheduler.evicting.FakeCluster.deletion;
import static io.gpusharing.scheduler.evicting.FakeCluster.eviction;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.ObjectReference;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.kubernetes.Events;
import io.gpusharing.scheduler.evicting.EvictionApi.Answer;
import io.gpusharing.scheduler.evicting.EvictionApi.Result;
import io.gpusharing.scheduler.testing.FakeApiServer;
import io.gpusharing.testing.SteppingClock;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the API server's answers mean. */
class EvictionApiTest {

    private static final ObjectReference POD =
            Events.pod("team-a", "train", FakeCluster.uid("train"));

    private final FakeCluster cluster =
            new FakeCluster(new SteppingClock(Instant.parse("2026-03-02T10:00:00Z")));
    private final EvictionApi api = new EvictionApi(cluster.client());

    @AfterEach
    void stop() {
        cluster.close();
    }

    @Test
    void aPodEndsUnlessItIsADryRun() {
        cluster.pod("team-a", "train");

        assertThat(api.evict(POD, null, true)).isEqualTo(new Answer(Result.Ended, ""));
        assertThat(cluster.ended).isEmpty();

        assertThat(api.evict(POD, Duration.ofSeconds(7), false))
                .isEqualTo(new Answer(Result.Ended, ""));
        assertThat(cluster.ended).containsExactly("train");
        assertThat(cluster.to(eviction("train")).getLast().body())
                .contains("\"gracePeriodSeconds\":7");
    }

    @ParameterizedTest
    @CsvSource({
        "403, exceeded quota",
        "422, metadata.annotations: Invalid value",
        "500, This pod has more than one PodDisruptionBudget",
        "500, etcdserver: request is too large"
    })
    void aRefusalIsSaidInItsWords(int code, String message) {
        cluster.on(eviction("train"), request -> FakeApiServer.Answer.status(code, message));

        assertThat(api.evict(POD, null, false)).isEqualTo(new Answer(Result.Refused, message));
    }

    @Test
    void aDisruptionBudgetsNoIsAskedForOnce() {
        cluster.on(eviction("train"), FakeCluster.refusal(429));

        assertThat(api.evict(POD, null, false).result()).isEqualTo(Result.Refused);
        assertThat(cluster.requests).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {404, 409})
    void anotherPodOfItsNameIsMeantByNobody(int code) {
        cluster.on(eviction("train").or(deletion("train")), FakeCluster.refusal(code));

        assertThat(api.evict(POD, null, false).result()).isEqualTo(Result.Gone);
        assertThat(api.delete(POD, null).result()).isEqualTo(Result.Gone);
    }

    @ParameterizedTest
    @ValueSource(ints = {401, 500, 503})
    void whateverElseItSaysIsNoAnswer(int code) {
        cluster.on(eviction("train"), FakeCluster.refusal(code));

        assertThatThrownBy(() -> api.evict(POD, null, false))
                .isInstanceOf(KubernetesClientException.class);
    }
}
