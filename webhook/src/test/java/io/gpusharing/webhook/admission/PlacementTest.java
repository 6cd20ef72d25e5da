package io.gpusharing.webhook.admission;

import static io.gpusharing.webhook.admission.Manifests.halfAGpu;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.ObjectNode;

/** Who places a pod. */
class PlacementTest {

    private final Installation sharing =
            new Installation().sharing("tencent.com/vcuda-core", "tencent.com/vcuda-memory");

    @Test
    void aFractionThatANodeOfOursOffersIsPlacedByOurScheduler() {
        assertThat(scheduler(sharing.create(half("default-scheduler"))))
                .isEqualTo("gpusharing-scheduler");
    }

    @Test
    void whereTheAuthorSaysNothingAndNothingIsFilledInItIsTheSame() {
        assertThat(scheduler(sharing.create(halfAGpu()))).isEqualTo("gpusharing-scheduler");
    }

    @Test
    void beforeTheFirstNodeSharesItsGpusNothingChanges() {
        assertThat(scheduler(new Installation().create(half("default-scheduler"))))
                .isEqualTo("default-scheduler");
    }

    @Test
    void aFractionThatOnlyOthersOfferIsLeftToThem() {
        var aliyun = new Installation().sharing("aliyun.com/gpu-mem");

        assertThat(scheduler(aliyun.create(half("default-scheduler"))))
                .isEqualTo("default-scheduler");
    }

    @Test
    void anotherSchedulerThatTheAuthorChoseIsKept() {
        assertThat(scheduler(sharing.create(half("volcano")))).isEqualTo("volcano");
    }

    @Test
    void aSiteWhoseOwnSchedulerAsksUsKeepsIt() {
        assertThat(scheduler(sharing.withoutAScheduler().create(half("default-scheduler"))))
                .isEqualTo("default-scheduler");
    }

    @Test
    void whatIsJudgedTwiceIsChangedOnce() {
        Answered once = sharing.create(half("default-scheduler"));

        assertThat(sharing.received(once.patched()).patched()).isEqualTo(once.patched());
    }

    @Test
    void roomIsLeftForWhatOurSchedulerWritesWithTheBinding() {
        ObjectNode pod = half("default-scheduler");
        pod.withObject("/metadata/annotations").put("big", "a".repeat(255_000));

        assertThat(new Installation().create(pod).allowed()).isTrue();
        Answered answer = sharing.create(pod);
        assertThat(answer.code()).isEqualTo(403);
        assertThat(answer.audit("rules")).isEqualTo("ANNOTATIONS_TOO_LONG");
    }

    private static ObjectNode half(String schedulerName) {
        ObjectNode pod = halfAGpu();
        pod.withObject("/spec").put("schedulerName", schedulerName);
        return pod;
    }

    private static String scheduler(Answered answer) {
        return answer.patched().at("/spec/schedulerName").asString();
    }
}
