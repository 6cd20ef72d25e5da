package io.gpusharing.e2e.poison;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.gpusharing.e2e.admission.Api;
import io.gpusharing.e2e.cluster.TestCluster;
import io.gpusharing.e2e.story.Ledger;
import java.time.Duration;
import java.time.Instant;
import org.awaitility.core.ConditionFactory;

/**
 * Ten pods of two teams that know nothing of poisons: they come, share a GPU, are preempted and
 * reclaimed, wait, are placed and go. There are two nodes of two GPUs each, which are handed out by
 * our scheduler.
 */
final class InnocentPods {

    /** How long anything may take on a busy machine. */
    private static final Duration SOON = Duration.ofSeconds(60);

    /** How long after its binding a pod may be charged for the first time. */
    private static final Duration IN_TIME = Duration.ofSeconds(15);

    private final Api api;
    private final Ledger ledger;
    private final String team;
    private final String spenders;

    /**
     * @param round tells the teams of several stories apart
     */
    InnocentPods(TestCluster cluster, Ledger ledger, int round) {
        this.api = new Api(cluster.client());
        this.ledger = ledger;
        this.team = "innocents-" + round;
        this.spenders = "spenders-" + round;
        cluster.createNamespace(team);
        cluster.createNamespace(spenders);
        budget(team, "10000");
        budget(spenders, "0.05");
        soon("the webhook knows the budget")
                .until(() ->
                        api.dryRun(spenders, pod("first", 100))
                                .orFail()
                                .at("/metadata/annotations/gpusharing.io~1standing")
                                .asText()
                                .equals("InBudget"));
    }

    private void budget(String name, String minutes) {
        api.create(
                        "",
                        "{apiVersion: gpusharing.io/v1alpha1, kind: GpuBudget, metadata: {name: %s}, spec: {namespaces: [%1$s], gpuMinutes: '%s', onExhausted: Reclaim, minimumRunTime: 0s}}"
                                .formatted(name, minutes))
                .orFail();
    }

    /** All of it; each pod is charged exactly and in time. */
    void live() {
        isCharged(spenders, "holder-1", 100);
        isCharged(spenders, "holder-2", 100);
        isCharged(team, "left", 50);
        isCharged(team, "right", 50);
        assertThat(gpu(team, "right")).isEqualTo(gpu(team, "left"));
        soon("the budget is used up")
                .until(() ->
                        api.get("/apis/gpusharing.io/v1alpha1/gpubudgets/" + spenders)
                                .orFail()
                                .at("/status/standing")
                                .asText()
                                .equals("OverBudget"));
        isCharged(spenders, "late", 100);

        // It was admitted over budget, so the scheduler preempts it.
        isCharged(team, "urgent", 100);
        isGone(spenders, "late");
        // Those were admitted in budget, so reclaim makes room.
        isCharged(team, "large", 100);
        isCharged(team, "small", 60);
        isGone(spenders, "holder-1");
        isGone(spenders, "holder-2");

        create(team, "waits", 100);
        soon("it waits")
                .until(() ->
                        Api.condition(pod(team, "waits"), "PodScheduled")
                                .path("reason")
                                .asText()
                                .equals("Unschedulable"));
        api.delete(Api.pod(team, "urgent")).orFail();
        isBoundAndCharged(team, "waits");
        isCharged(team, "last", 40);
        assertThat(gpu(team, "last")).isEqualTo(gpu(team, "small"));

        theBillIsRight();
    }

    /** One pod comes, is charged and goes. */
    void comeAndGo(String name) {
        isCharged(team, name, 100);
        theBillIsRight();
    }

    private void theBillIsRight() {
        for (String namespace : new String[] {team, spenders}) {
            api.delete("/api/v1/namespaces/%s/pods".formatted(namespace)).orFail();
        }
        soon("every end is in the ledger")
                .until(() -> ledger.open(team) == 0 && ledger.open(spenders) == 0);
        assertThat(ledger.differences(team)).isEmpty();
        assertThat(ledger.differences(spenders)).isEmpty();
        assertThat(ledger.estimatedPods())
                .as("every end was seen")
                .noneMatch(it -> it.startsWith(team + "/") || it.startsWith(spenders + "/"));
    }

    private void isCharged(String namespace, String name, int core) {
        create(namespace, name, core);
        isBoundAndCharged(namespace, name);
    }

    private void isBoundAndCharged(String namespace, String name) {
        soon(name + " is bound").until(() -> !gpu(namespace, name).isEmpty());
        Instant bound =
                Instant.parse(
                        Api.condition(pod(namespace, name), "PodScheduled")
                                .path("lastTransitionTime")
                                .asText());
        Ledger.AllocationInterval charge =
                await(name + " is charged")
                        .atMost(IN_TIME)
                        .until(() -> ledger.allocations(namespace).get(name), it -> it != null);
        assertThat(charge.since()).as("%s is charged from its binding on", name).isEqualTo(bound);
    }

    private void isGone(String namespace, String name) {
        soon(name + " is gone").until(() -> api.get(Api.pod(namespace, name)).code() == 404);
    }

    private void create(String namespace, String name, int core) {
        api.create(namespace, pod(name, core)).orFail();
    }

    private JsonNode pod(String namespace, String name) {
        return api.get(Api.pod(namespace, name)).orFail();
    }

    /** Empty while it waits. */
    private String gpu(String namespace, String name) {
        JsonNode pod = pod(namespace, name);
        String placement = pod.at("/metadata/annotations/gpusharing.io~1placement").asText();
        return pod.at("/spec/nodeName").isMissingNode()
                ? ""
                : placement.substring(placement.indexOf('=') + 1);
    }

    private static String pod(String name, int core) {
        return """
        apiVersion: v1
        kind: Pod
        metadata: {name: %s}
        spec:
          containers: [{name: cuda, image: cuda, resources: {limits: {tencent.com/vcuda-core: %d, tencent.com/vcuda-memory: 4}}}]
        """
                .formatted(name, core);
    }

    private static ConditionFactory soon(String what) {
        return await(what).atMost(SOON).pollInterval(Duration.ofMillis(200));
    }
}
