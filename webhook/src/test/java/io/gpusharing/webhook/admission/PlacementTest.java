package io.gpusharing.webhook.admission;

import static io.gpusharing.webhook.admission.Manifests.halfAGpu;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.node.ArrayNode;
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
    void whereOthersHandOutTheResourceNothingChangesBeforeTheFirstNodeOfOurs() {
        assertThat(scheduler(new Installation().create(half("default-scheduler"))))
                .isEqualTo("default-scheduler");
    }

    /** Bound by another scheduler, three pods of 60 would be on two GPUs once the node is there. */
    @Test
    void aPodThatWaitsForTheFirstNodeOfOursWaitsForOurScheduler() {
        var awaiting = new Installation().awaiting("tencent.com/vcuda-core");

        assertThat(scheduler(awaiting.create(half("default-scheduler"))))
                .isEqualTo("gpusharing-scheduler");
        assertThat(awaiting.create(requesting("strategy", "Spread")).warnings()).isEmpty();
    }

    @Test
    void aNotebookOfAHubWhoseOwnSchedulerOnlyPacksIsPlacedByOurs() {
        Answered answer = sharing.create(half("hub-user-scheduler"));

        assertThat(scheduler(answer)).isEqualTo("gpusharing-scheduler");
        assertThat(answer.warnings())
                .containsExactly(
                        "scheduler hub-user-scheduler does not know which GPUs are taken: gpusharing-scheduler places the pod");
        assertThat(scheduler(sharing.create(half("user-scheduler-of-mine"))))
                .isEqualTo("user-scheduler-of-mine");
    }

    @Test
    void aHubsSchedulerGivesWayToTheClustersOwnWhereThatAsksUs() {
        assertThat(
                        scheduler(
                                sharing.askedByTheClustersScheduler()
                                        .create(half("hub-user-scheduler"))))
                .isEqualTo("default-scheduler");
    }

    @Test
    void whatOurNodesDoNotOfferIsLeftToTheHubsScheduler() {
        assertThat(scheduler(new Installation().create(half("hub-user-scheduler"))))
                .isEqualTo("hub-user-scheduler");
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
    void whereTheClustersOwnSchedulerAsksOurExtenderPodsKeepItAndArePlacedByUs() {
        sharing.askedByTheClustersScheduler();
        ObjectNode pod = requesting("strategy", "Spread");
        Answered answer = sharing.create(pod);

        assertThat(scheduler(answer)).isEqualTo("default-scheduler");
        assertThat(answer.warnings()).isEmpty();
        // Nobody says who it is where nothing was filled in.
        assertThat(sharing.create(halfAGpu()).patched().at("/spec").has("schedulerName")).isFalse();

        pod.withObject("/metadata/annotations").put("big", "a".repeat(255_000));
        assertThat(sharing.create(pod).audit("rules")).isEqualTo("ANNOTATIONS_TOO_LONG");
    }

    @Test
    void whereItAsksAndNoNodeSharesItsGpusNothingChanges() {
        Answered answer =
                new Installation()
                        .askedByTheClustersScheduler()
                        .create(requesting("strategy", "Spread"));

        assertThat(answer.warnings()).singleElement().asString().contains("has no effect");
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

    @Test
    void aPodWhosePlacementWouldBeTooLongIsRefusedBeforeRoomIsMadeForIt() {
        ObjectNode pod = half("default-scheduler");
        ArrayNode containers = (ArrayNode) pod.at("/spec/containers");
        while (containers.size() < 180) {
            ObjectNode another = (ObjectNode) containers.get(0).deepCopy();
            containers.add(another.put("name", "c" + (containers.size() + 1)));
        }

        Answered answer = sharing.create(pod);

        assertThat(new Installation().create(pod).allowed()).isTrue();
        assertThat(answer.code()).isEqualTo(403);
        assertThat(answer.message())
                .contains("180 containers ask for GPUs", "spread them over several pods");
        containers.remove(179);
        assertThat(sharing.create(pod).allowed()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"BestFit", "Spread"})
    void whoCreatesAPodMayChooseHowItIsPlaced(String strategy) {
        Answered answer = sharing.create(requesting("strategy", strategy));

        assertThat(answer.allowed()).isTrue();
        assertThat(answer.warnings()).isEmpty();
    }

    @Test
    void anotherStrategyIsRefusedWithWhatToWriteInstead() {
        Answered answer = sharing.create(requesting("strategy", "spread"));

        assertThat(answer.code()).isEqualTo(403);
        assertThat(answer.audit("rules")).isEqualTo("UNKNOWN_STRATEGY");
        assertThat(answer.message())
                .contains(
                        "annotation request.gpusharing.io/strategy is \"spread\"; write one of [BestFit, Spread]");
    }

    @Test
    void anotherRequestIsRefused() {
        Answered answer = sharing.create(requesting("stratgey", "Spread"));

        assertThat(answer.audit("rules")).isEqualTo("UNKNOWN_REQUEST");
        assertThat(answer.message())
                .contains(
                        "write request.gpusharing.io/strategy or request.gpusharing.io/same-gpu or request.gpusharing.io/mps, or remove it");
    }

    @Test
    void whoCreatesPodsMayHaveThemShareOneGpu() {
        Answered answer = sharing.create(requesting("same-gpu", "train-and-evaluate"));

        assertThat(answer.allowed()).isTrue();
        assertThat(answer.warnings()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "Train", "a b", "-a", "a-", "team/a", "\u00e9", "{{workflow.name}}"})
    void aGroupHasANameLikeObjectsHave(String name) {
        Answered answer = sharing.create(requesting("same-gpu", name));

        assertThat(answer.audit("rules")).isEqualTo("ILLEGAL_GROUP");
        assertThat(answer.message())
                .contains("write a name of up to 63 lower-case letters, digits and hyphens");
    }

    @Test
    void severalGpusAreNotSharedByAGroup() {
        ObjectNode pod = requesting("same-gpu", "a");
        ObjectNode limits = (ObjectNode) pod.at("/spec/containers/0/resources/limits");
        limits.removeAll();
        limits.put("tencent.com/vcuda-core", 200);

        Answered answer = sharing.create(pod);

        assertThat(answer.audit("rules")).isEqualTo("GROUP_OF_PARTS");
        assertThat(answer.message())
                .contains("whatever needs several together belongs into one pod");
    }

    @Test
    void aGpuAndAHalfAreNotSharedByAGroup() {
        ObjectNode pod = requesting("same-gpu", "a");
        ((ObjectNode) pod.at("/spec/containers/0/resources/limits"))
                .removeAll()
                .put("cnvrg.io/metagpu", 150);

        Installation metagpu = new Installation().grammars("metagpu").sharing("cnvrg.io/metagpu");

        assertThat(metagpu.create(pod).audit("rules")).isEqualTo("GROUP_OF_PARTS");
    }

    @Test
    void aPodOfAGroupHasOneContainerWithAGpu() {
        ObjectNode pod = requesting("same-gpu", "a");
        ObjectNode second = (ObjectNode) pod.at("/spec/containers/0").deepCopy();
        ((ArrayNode) pod.at("/spec/containers")).add(second.put("name", "second"));

        assertThat(sharing.create(pod).audit("rules")).isEqualTo("GROUP_OF_PARTS");
    }

    @Test
    void whereAnotherSchedulerPlacesTheAuthorIsToldThatItHasNoEffect() {
        Answered answer = new Installation().create(requesting("strategy", "Spread"));

        assertThat(answer.allowed()).isTrue();
        assertThat(answer.warnings())
                .containsExactly(
                        "annotation request.gpusharing.io/strategy has no effect: the pod is not placed by GPUSharing's scheduler");
    }

    private static ObjectNode requesting(String name, String value) {
        ObjectNode pod = half("default-scheduler");
        pod.withObject("/metadata/annotations").put("request.gpusharing.io/" + name, value);
        return pod;
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
