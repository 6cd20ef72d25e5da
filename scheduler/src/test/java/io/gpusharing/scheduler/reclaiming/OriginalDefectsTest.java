package io.gpusharing.scheduler.reclaiming;

import static io.gpusharing.scheduler.reclaiming.Cluster.pod;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.gpusharing.budget.GpuBudgetSpec.OnExhausted;
import io.gpusharing.kubernetes.EvictionPlan;
import io.gpusharing.kubernetes.GpuEviction;
import io.gpusharing.kubernetes.GpuEviction.Phase;
import io.gpusharing.kubernetes.GpuEviction.Result;
import io.gpusharing.scheduler.picture.Past.Refusal;
import io.gpusharing.scheduler.reclaiming.plan.Decision;
import io.gpusharing.scheduler.reclaiming.plan.Decision.Evict;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * What was wrong with how the proof of concept (timozerrer/kubernetes-gpusharing) that the project
 * follows evicted pods. Each test is named after the defect that must not come back.
 */
class OriginalDefectsTest {

    private static final Duration A_MINUTE = Duration.ofMinutes(1);

    /** Its role could create, change and delete every pod of the cluster. */
    @Test
    void defect32_theRoleAllowedMoreThanWasNeeded() throws IOException {
        List<PolicyRule> ofPods =
                Arrays.stream(
                                Files.readString(Path.of("../deployment/30-rbac.yaml"))
                                        .split("(?m)^---$"))
                        .filter(document -> document.contains("kind: ClusterRole\n"))
                        .map(document -> Serialization.unmarshal(document, ClusterRole.class))
                        .filter(role ->
                                role.getMetadata().getName().equals("gpusharing-timekeeper"))
                        .flatMap(role -> role.getRules().stream())
                        .filter(rule ->
                                rule.getResources().stream()
                                        .anyMatch(it -> it.startsWith("pods") || it.contains("*")))
                        .toList();

        assertThat(ofPods)
                .anySatisfy(rule -> assertThat(rule.getResources()).contains("pods"))
                .allSatisfy(rule ->
                        assertThat(rule.getVerbs())
                                .isSubsetOf(
                                        rule.getResources().contains("pods/eviction")
                                                ? List.of("create")
                                                : List.of("get", "list", "watch")));
    }

    /** At the end of its budget a pod was deleted at once, without grace and without a word. */
    @Test
    void defect36_aBudgetsEndWasADeletionInsteadOfALowerPriority() {
        Cluster lowered =
                new Cluster()
                        .node("n1")
                        .within("team-b")
                        .budget("team-a", Cluster.overrun(50), OnExhausted.LowerPriority, false)
                        .runs(pod("team-a", "x").gpus(2).on("n1", 0, 1))
                        .waits(pod("team-b", "w").gpus(1).waiting(A_MINUTE));
        assertThat(lowered.decide()).isInstanceOf(Decision.Leave.class);

        try (var teams = new TwoTeams()) {
            teams.replica().work(0);

            assertThat(teams.orders()).hasSize(1);
            assertThat(teams.api.requests).noneMatch(it -> it.method().equals("DELETE"));
        }
    }

    /** The deletion's answer was ignored, so the pod might run on. */
    @Test
    void defect37_whetherAPodReallyWentWasNeverSeen() {
        try (var teams = new TwoTeams()) {
            teams.replica().work(0);
            GpuEviction order = teams.orders().getFirst();

            assertThat(ReclaimPlan.of(EvictionPlan.of(order)).orElseThrow().evictions())
                    .as("it may have gone")
                    .hasSize(1);
            TwoTeams.answered(order, Phase.Refused, Result.Refused, null);
            ReclaimPlan refused = ReclaimPlan.of(EvictionPlan.of(order)).orElseThrow();
            assertThat(refused.evictions()).isEmpty();
            assertThat(refused.refusals())
                    .extracting(Refusal::victim)
                    .containsExactly(teams.victim());
        }
    }

    /** Pods were deleted in the order in which they happened to report. */
    @Test
    void defect39_theOrderOfDeletionsWasArbitrary() {
        Cluster cluster =
                new Cluster()
                        .node("n1")
                        .within("team-b")
                        .over("team-a", 5)
                        .over("team-c", 50)
                        .runs(pod("team-a", "small-overrun").gpus(1).on("n1", 0))
                        .runs(pod("team-c", "large-overrun").gpus(1).on("n1", 1))
                        .waits(pod("team-b", "w").gpus(1).waiting(A_MINUTE));

        assertThat(((Evict) cluster.decide()).victims())
                .extracting(victim -> victim.pod().name())
                .containsExactly("large-overrun");
    }
}
