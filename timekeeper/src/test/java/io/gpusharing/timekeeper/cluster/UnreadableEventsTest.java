package io.gpusharing.timekeeper.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.gpusharing.kubernetes.Leadership;
import io.gpusharing.kubernetes.UnreadableObjects;
import io.gpusharing.testing.SteppingClock;
import io.gpusharing.timekeeper.testing.FakeApiServer;
import java.io.IOException;
import java.time.Instant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class UnreadableEventsTest {

    private static final Instant TEN = Instant.parse("2026-03-02T10:00:00Z");
    private static final String OF_A = "/namespaces/team-a/events";
    private static final String OF_B = "/namespaces/team-b/events";

    private final FakeApiServer api = new FakeApiServer();
    private final SteppingClock clock = new SteppingClock(TEN);
    private final UnreadableObjects objects = new UnreadableObjects(object -> {}, clock);
    private final UnreadableEvents events =
            new UnreadableEvents(api.client(), objects, Leadership.alone(), clock);

    UnreadableEventsTest() throws IOException {}

    @AfterEach
    void stop() {
        api.close();
    }

    private static Pod pod(String namespace, String name) {
        return new PodBuilder()
                .withNewMetadata()
                .withNamespace(namespace)
                .withName(name)
                .withUid("uid-of-" + name)
                .endMetadata()
                .build();
    }

    private void cannotBeRead(HasMetadata object) {
        objects.handOver(
                object,
                it -> {
                    throw new IllegalArgumentException("4x is no amount");
                });
    }

    @Test
    void anEventOnTheObjectSaysWhatIsWrong() {
        cannotBeRead(pod("team-a", "odd"));

        events.work(TEN);

        assertThat(api.to(OF_A))
                .singleElement()
                .satisfies(it ->
                        assertThat(it.body())
                                .contains(
                                        "\"type\":\"Warning\"",
                                        "\"reason\":\"Unreadable\"",
                                        "\"apiVersion\":\"v1\"",
                                        "\"kind\":\"Pod\"",
                                        "\"uid\":\"uid-of-odd\"",
                                        "GPUSharing cannot read this object: 4x is no amount"));
    }

    @Test
    void theEventOfAnObjectWithoutNamespaceIsInDefault() {
        cannotBeRead(
                new NodeBuilder()
                        .withNewMetadata()
                        .withName("n1")
                        .withUid("uid-of-n1")
                        .endMetadata()
                        .build());

        events.work(TEN);

        assertThat(api.created("/namespaces/default/events")).isOne();
    }

    @Test
    void ofThousandsTwentyAreToldInTenSecondsAndEachOnce() {
        for (int n = 0; n < 50; n++) {
            cannotBeRead(pod("team-a", "odd-" + n));
        }

        assertThat(events.work(TEN)).isEqualTo(TEN.plusSeconds(10));
        assertThat(api.to(OF_A)).hasSize(20);
        for (int round = 0; round < 5; round++) {
            events.work(TEN);
        }

        assertThat(api.to(OF_A)).hasSize(50);
        assertThat(api.created(OF_A)).isEqualTo(50);
    }

    @Test
    void anObjectThatHasGoneBeforeItsTurnIsNotTold() {
        cannotBeRead(pod("team-a", "odd"));
        objects.forget(pod("team-a", "odd"));

        events.work(TEN);

        assertThat(api.to(OF_A)).isEmpty();
    }

    @Test
    void aNamespaceThatTakesNoEventsHoldsUpNoOther() {
        api.refuse(OF_A, 403);
        cannotBeRead(pod("team-a", "odd"));
        cannotBeRead(pod("team-b", "odder"));

        events.work(TEN);
        events.work(TEN);

        assertThat(api.created(OF_B)).isOne();
        assertThat(api.to(OF_A)).as("not asked again").hasSize(1);
    }

    @Test
    void anApiServerThatIsAwayIsToldOnceItIsBack() {
        api.refuse(OF_A, 503);
        cannotBeRead(pod("team-a", "odd"));
        assertThatThrownBy(() -> events.work(TEN)).isInstanceOf(KubernetesClientException.class);

        api.allow(OF_A);
        events.work(TEN);

        assertThat(api.created(OF_A)).isOne();
    }

    @Test
    void anObjectWithTheLongestNameThatThereIsGetsItsEvent() {
        String longest = "a".repeat(230) + "-" + "b".repeat(22);
        cannotBeRead(pod("team-a", longest));

        events.work(TEN);

        assertThat(api.to(OF_A).getFirst().body())
                .contains("\"name\":\"" + longest + "\"")
                .containsPattern("\"name\":\"a{230}(-b+)?\\.unreadable-[0-9a-f]+\"");
        assertThat(api.to(OF_A).getFirst().body())
                .doesNotContainPattern("\"name\":\"[^\"]{254,}\"");
    }
}
