package io.gpusharing.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.gpusharing.Names;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Pods that an API server stores and nobody would write. */
class PodReaderTest {

    private static PodFacts read(String limit, String status) {
        String pod =
                """
                {"metadata":{"name":"a","namespace":"team-a","uid":"00000000-0000-4000-8000-000000000001",
                  "creationTimestamp":"2026-03-01T09:59:59Z","managedFields":[{"subresource":"status"}]},
                 "spec":{"nodeName":"node-1","containers":[
                   {"name":"cuda","resources":{"limits":{"nvidia.com/gpu":"%s"}}}]},
                 "status":{%s}}
                """
                        .formatted(limit, status);
        return new PodReader(name -> name.startsWith("nvidia.com/"))
                .read(ApiServerJson.serialization().unmarshal(pod, Pod.class));
    }

    @ParameterizedTest
    @ValueSource(strings = {"9e999", "-9e999", "1e-400", "8Ei", "0", "9223372036854775808"})
    void anyAmountIsRead(String limit) {
        assertThat(read(limit, "").request().containers().getFirst().limits())
                .containsOnlyKeys("nvidia.com/gpu");
    }

    /** What the API server makes of a transition in the year 9999 by a clock of another zone. */
    @ParameterizedTest
    @ValueSource(strings = {"10000-01-01T00:59:59Z", "-0001-12-31T23:00:00Z"})
    void anyYearIsRead(String time) {
        String status =
                """
                "conditions":[{"type":"PodScheduled","status":"True","lastTransitionTime":"%s"}]
                """
                        .formatted(time);

        Instant scheduled = read("1", status).lifecycle().scheduled();

        assertThat(String.valueOf(scheduled)).contains(time);
    }

    /** A tenant may make hundreds of such pods, and each is known for as long as it is there. */
    @Test
    void littleIsKeptOfAPodHoweverMuchItSays() {
        String much = "x".repeat(250_000);
        Pod pod =
                new PodBuilder()
                        .withNewMetadata()
                        .withUid("4dd3c0a2-4b0e-4c54-8e5c-2a3a2f0a5a11")
                        .withNamespace("team-a")
                        .withName("loud")
                        .withCreationTimestamp("2026-03-01T10:00:00Z")
                        .addToAnnotations("tencent.com/note", much)
                        .addToAnnotations(Names.REQUEST_ANNOTATION, much)
                        .addToAnnotations(Names.DO_NOT_RECLAIM_ANNOTATION, much)
                        .addNewOwnerReference()
                        .withController(true)
                        .withKind(much)
                        .withName("\uD83D\uDCA9".repeat(200))
                        .withUid(much)
                        .endOwnerReference()
                        .endMetadata()
                        .withNewSpec()
                        .endSpec()
                        .withNewStatus()
                        .withNominatedNodeName(much)
                        .endStatus()
                        .build();

        PodFacts facts = new PodReader(name -> true).read(pod);

        assertThat(facts.annotations()).containsOnlyKeys(Names.DO_NOT_RECLAIM_ANNOTATION);
        assertThat(facts.owner()).isNotNull();
        assertThat(facts.toString()).hasSizeLessThan(3_000).doesNotContainPattern("\\p{Cs}");
    }

    @Test
    void noDatabaseTextHoldsCharacterZeroOrHalfOfAPair() {
        assertThat(PodReader.storable("a\0b\uD83Dc\uDCA9d\uD83D\uDCA9"))
                .isEqualTo("a\uFFFDb\uFFFDc\uFFFDd\uD83D\uDCA9");
    }

    @Test
    void aStatusOfNothingIsRead() {
        PodFacts pod =
                read(
                        "1",
                        """
                        "conditions":[{}],"containerStatuses":[{"name":""},{"name":"x","state":{}},
                          {"name":"y","state":{"terminated":{"finishedAt":null}}}]
                        """);

        assertThat(pod.lifecycle().finished()).isNull();
        assertThat(pod.lifecycle().endUnknown()).isTrue();
    }
}
