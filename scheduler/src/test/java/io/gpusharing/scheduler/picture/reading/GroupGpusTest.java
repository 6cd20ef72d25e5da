package io.gpusharing.scheduler.picture.reading;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.gpusharing.placement.KeptRoom;
import io.gpusharing.placement.SharedNode;
import io.gpusharing.request.grammar.GrammarSettings;
import io.gpusharing.request.grammar.RequestGrammars;
import io.gpusharing.scheduler.picture.ClusterSnapshot.Waiter;
import io.gpusharing.wire.GpuHold;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** On which GPU room may be made for pods that are to share one. */
class GroupGpusTest {

    private final Readers readers =
            new Readers(
                    RequestGrammars.of(List.of("vcuda"), new GrammarSettings(List.of(), Map.of())));

    private final GroupGpus groups = new GroupGpus();
    private final List<Waiter> waiters = new ArrayList<>();

    private static String uid(String name) {
        return UUID.nameUUIDFromBytes(name.getBytes(StandardCharsets.UTF_8)).toString();
    }

    private static Pod pod(String name, String group, String since, String more) {
        return Serialization.unmarshal(
                """
                apiVersion: v1
                kind: Pod
                metadata:
                  name: %s
                  namespace: team-a
                  uid: %s
                  creationTimestamp: "2026-03-02T%s:00Z"
                  annotations: {request.gpusharing.io/same-gpu: %s, gpusharing.io/placement: '%s;cuda=GPU-%s'}
                %s
                status:
                  conditions:
                  - {type: PodScheduled, status: "%s", reason: Unschedulable, lastTransitionTime: "2026-03-02T%s:00Z"}
                """
                        .formatted(
                                name,
                                uid(name),
                                since,
                                group,
                                uid(name),
                                name,
                                more
                                        + "  containers:\n  - {name: cuda, resources: {limits: {tencent.com/vcuda-core: '30'}}}",
                                more.contains("nodeName") ? "True" : "False",
                                since),
                Pod.class);
    }

    private GroupGpusTest waits(String name, String group, String since) {
        Pod pod = pod(name, group, since, "spec:\n");
        Waiter waiter = readers.waiter(pod);
        waiters.add(waiter);
        readers.waits(groups, pod);
        return this;
    }

    /** On the GPU that has its name. */
    private GroupGpusTest runs(String name, String group, String since, String more) {
        Pod pod = pod(name, group, since, more + "spec:\n  nodeName: n\n");
        readers.holds(groups, pod);
        return this;
    }

    private List<String> eligible(Map<String, SharedNode> nodes, KeptRoom... kept) {
        groups.complete(nodes, List.of(kept));
        return groups.beside(waiters).stream()
                .map(it -> it.pod().name() + it.ask().containers().getFirst().on())
                .toList();
    }

    private static KeptRoom room(String pod, String gpu) {
        return new KeptRoom(
                uid(pod), 0, "n", List.of(new GpuHold(gpu, 30, 0, false)), Set.of(), Instant.MAX);
    }

    @Test
    void itIsTheGpuOfWhoCameFirst() {
        runs("first", "g", "09:00", "").runs("moved", "g", "10:00", "");

        assertThat(waits("a", "g", "11:00").waits("b", "g", "12:00").eligible(Map.of()))
                .containsExactly("a[GPU-first]", "b[GPU-first]");
    }

    @Test
    void whatTheDevicePluginGrantedCountsBeforeWhatWasWritten() {
        var node =
                new SharedNode(
                        "n",
                        List.of(),
                        List.of(),
                        Map.of(uid("first"), List.of(new GpuHold("GPU-granted", 30, 0, false))));

        assertThat(
                        runs("first", "g", "09:00", "")
                                .waits("a", "g", "11:00")
                                .eligible(Map.of("n", node)))
                .containsExactly("a[GPU-granted]");
    }

    @Test
    void whoIsBeingDeletedHoldsNobody() {
        String deleted =
                "  deletionTimestamp: '2026-03-02T12:30:00Z'\n  deletionGracePeriodSeconds: 30\n";

        assertThat(runs("first", "g", "09:00", deleted).waits("a", "g", "11:00").eligible(Map.of()))
                .containsExactly("a[]");
    }

    @Test
    void ofAGroupWithoutAGpuNobodyIsEvictedButForTheOneWhoWaitsLongest() {
        assertThat(
                        waits("b", "g", "12:00")
                                .waits("a", "g", "11:00")
                                .waits("c", "h", "13:00")
                                .eligible(Map.of()))
                .containsExactly("a[]", "c[]");
    }

    @Test
    void whereRoomIsBeingMadeForOneOfThemTheOthersBelong() {
        assertThat(
                        waits("b", "g", "12:00")
                                .waits("a", "g", "11:00")
                                .eligible(Map.of(), room("b", "GPU-kept")))
                .containsExactly("b[GPU-kept]", "a[GPU-kept]");
    }
}
