package io.gpusharing.e2e.story;

import static io.gpusharing.e2e.story.EvictingCluster.soon;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpusharing.e2e.admission.Api;
import io.gpusharing.e2e.installation.TimekeeperApi;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * Each pod that is ended, for whatever cause, is ended by one object, which is its receipt. On the
 * first node a team over its budget has a GPU beside bystanders, on the second it has both.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class EvictionsIT {

    private static final String SPENDERS = "spenders";
    private static final String BYSTANDERS = "bystanders";
    private static final String TEAM = "team";
    private static final String KIND = "/apis/gpusharing.io/v1alpha1/gpuevictions";
    private static final String PAUSED =
            "{metadata: {annotations: {gpusharing.io/reclaim-paused: %s}}}";

    private static EvictingCluster cluster;

    @BeforeAll
    static void start() {
        cluster = EvictingCluster.start("evictions");
        cluster.team(SPENDERS, "0.1");
        cluster.team(BYSTANDERS, "10000");
        cluster.team(TEAM, "10000");
        String first = EvictingCluster.NODES.getFirst();
        String second = EvictingCluster.NODES.getLast();
        cluster.createOn(first, BYSTANDERS, "secret-project");
        cluster.isBound(BYSTANDERS, "secret-project");
        cluster.createOn(first, SPENDERS, "holder-1");
        cluster.createOn(second, SPENDERS, "holder-2");
        cluster.isBound(SPENDERS, "holder-1");
        cluster.isBound(SPENDERS, "holder-2");
        cluster.awaitUsedUp(SPENDERS);
        cluster.createOn(second, SPENDERS, "late");
        cluster.isBound(SPENDERS, "late");
    }

    @AfterAll
    static void end() {
        cluster.close();
    }

    /** It was admitted over budget, so that kube-scheduler may end it. */
    @Test
    @Order(1)
    void aPreemptionLeavesAReceipt() {
        cluster.create(TEAM, "urgent");
        cluster.isBound(TEAM, "urgent");

        JsonNode eviction = done("late");
        assertThat(eviction.at("/metadata/name").asText()).startsWith("preemption-");
        assertThat(eviction.at("/spec/cause").asText()).isEqualTo("Preemption");
        assertThat(eviction.at("/spec/waiter/name").asText()).isEqualTo("urgent");
        assertThat(eviction.at("/spec/waiter/budget").asText()).isEqualTo(TEAM);
        assertThat(eviction.at("/spec/victims/0/budget").asText()).isEqualTo(SPENDERS);
        assertThat(eviction.at("/spec/victims/0/standing").asText()).isEqualTo("OverBudget");
        isKept("late", "Preemption", "Preempted", "urgent");
    }

    @Test
    @Order(2)
    void aReclaimIsOneObjectWithItsOutcomeAndIsKept() {
        cluster.create(TEAM, "large");
        cluster.isBound(TEAM, "large");

        // Its GPU is free a moment before the object of a pod that has ended goes.
        String victim =
                soon("one had to go").until(() -> holders(true), it -> it.size() == 1).getFirst();
        JsonNode eviction = done(victim);
        assertThat(eviction.at("/metadata/name").asText()).matches("reclaim-\\d{6,}");
        assertThat(eviction.at("/spec/cause").asText()).isEqualTo("Reclaim");
        assertThat(eviction.at("/spec/victims/0/standing").asText()).isEqualTo("OverBudget");
        assertThat(eviction.at("/status/victims/0/result").asText()).isEqualTo("Evicted");
        isKept(victim, "Reclaim", "Evicted", "large");
        assertThat(events(SPENDERS, victim)).contains("Reclaimed by gpusharing-scheduler");
        assertThat(events(TEAM, "large")).contains("RoomMade by gpusharing-scheduler");
    }

    @Test
    @Order(3)
    void whatNobodyCouldDoIsDoneOnceByWhoComesNext() {
        Api api = cluster.api();
        String holder = holders(false).getFirst();
        String paused = "/api/v1/namespaces/gpusharing-system";
        api.merge(paused, PAUSED.formatted("'true'")).orFail();
        cluster.create(TEAM, "again");
        soon("it waits")
                .until(() ->
                        Api.condition(cluster.pod(TEAM, "again"), "PodScheduled")
                                .path("reason")
                                .asText()
                                .equals("Unschedulable"));

        cluster.scheduler().killExtender();
        api.merge(paused, PAUSED.formatted("null")).orFail();
        assertThat(cluster.evictionsOf(holder)).isEmpty();
        assertThat(cluster.isGone(SPENDERS, holder)).isFalse();
        cluster.scheduler().restartEnded();

        cluster.isBound(TEAM, "again");
        done(holder);
        assertThat(cluster.evictionsOf(holder)).hasSize(1);
        isKept(holder, "Reclaim", "Evicted", "again");
    }

    @Test
    @Order(4)
    void aPodThatCannotStartIsEvictedWithAReceipt() {
        String uid = cluster.pod(TEAM, "urgent").at("/metadata/uid").asText();

        cluster.refuse(TEAM, "urgent");

        soon("it is gone").until(() -> cluster.isGone(TEAM, "urgent"));
        List<JsonNode> evictions = cluster.evictionsOf("urgent");
        assertThat(evictions).hasSize(1);
        assertThat(evictions.getFirst().at("/metadata/name").asText())
                .isEqualTo("refused-start-" + uid);
        soon("it has a receipt")
                .untilAsserted(() ->
                        assertThat(cluster.receipts(TEAM))
                                .singleElement()
                                .satisfies(receipt -> {
                                    assertThat(receipt.path("cause").asText())
                                            .isEqualTo("RefusedStart");
                                    assertThat(receipt.path("result").asText())
                                            .isEqualTo("Evicted");
                                    assertThat(receipt.has("waiter")).isFalse();
                                }));
        assertThat(events(TEAM, "urgent")).contains("NotStarted by gpusharing-scheduler");
    }

    @Test
    @Order(5)
    void whoOwnsItsNamespaceNeitherMakesNorChangesNorDeletesAnEviction() {
        Api api = cluster.api();
        ownerOf(SPENDERS, "{kind: User, name: owner, apiGroup: rbac.authorization.k8s.io}");
        // More than any tenant has, and still not enough.
        api.create(
                        "",
                        "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: evictions}, rules: [{apiGroups: [gpusharing.io], resources: [gpuevictions, gpuevictions/status], verbs: ['*']}]}")
                .orFail();
        api.create(
                        "",
                        "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: evictions}, roleRef: {kind: ClusterRole, name: evictions, apiGroup: rbac.authorization.k8s.io}, subjects: [{kind: User, name: grasping, apiGroup: rbac.authorization.k8s.io}]}")
                .orFail();
        JsonNode mine = done("late");
        String path = KIND + "/" + mine.at("/metadata/name").asText();

        Api owner = api.as("owner", "system:authenticated");
        Api grasping = api.as("grasping", "system:authenticated");

        assertThat(attacks(owner, path))
                .allSatisfy(it -> assertThat(it.code()).as(it.toString()).isEqualTo(403));
        assertThat(owner.get(KIND).code()).isEqualTo(403);
        assertThat(attacks(grasping, path))
                .allSatisfy(it ->
                        assertThat(it.message())
                                .as(it.toString())
                                .containsAnyOf(
                                        "ValidatingAdmissionPolicy", "what is done stays done"));
        assertThat(grasping.merge(path, "{spec: {node: gpu-node-1}}").accepted())
                .as("not even the scheduler may")
                .isFalse();
        assertThat(done("late")).isEqualTo(mine);
    }

    private static List<Api.Answer> attacks(Api attacker, String path) {
        return List.of(
                attacker.create("", forged("Reclaim")),
                attacker.create("", forged("Preemption")),
                attacker.create("", forged("RefusedStart")),
                attacker.create("", forged("MemoryOveruse")),
                attacker.merge(
                        path + "/status", "{status: {phase: NotDone, reason: it never was}}"),
                attacker.delete(path),
                attacker.delete(KIND));
    }

    /** Room is one service's, whatever another one is broken into. */
    @Test
    @Order(6)
    void noAccountOfOursButTheSchedulersEvicts() {
        String eviction =
                "{apiVersion: policy/v1, kind: Eviction, metadata: {name: large}, deleteOptions: {dryRun: [All]}}";
        String path = Api.pod(TEAM, "large");

        for (String other : List.of("timekeeper", "webhook", "node-agent", "device-plugin")) {
            Api program = cluster.program(other);
            assertThat(program.post(path + "/eviction", eviction).code()).as(other).isEqualTo(403);
            assertThat(program.delete(path + "?dryRun=All").code()).as(other).isEqualTo(403);
        }
        assertThat(cluster.program("scheduler").post(path + "/eviction", eviction).accepted())
                .isTrue();
        for (String cause : List.of("Reclaim", "Preemption", "RefusedStart")) {
            assertThat(cluster.program("timekeeper").create("", forged(cause)).accepted())
                    .as(cause)
                    .isFalse();
        }
        assertThat(cluster.program("scheduler").create("", forged("MemoryOveruse")).accepted())
                .isFalse();
    }

    @Test
    @Order(7)
    void evictionsNameNoPodsOfNamespacesThatWhoAsksMayNotSee() {
        cluster.cluster()
                .kubectl()
                .run("create", "serviceaccount", "robot", "--namespace=" + SPENDERS)
                .orFail();
        ownerOf(SPENDERS, "{kind: ServiceAccount, name: robot, namespace: %s}".formatted(SPENDERS));
        TimekeeperApi tenant = cluster.installation().api().as(SPENDERS, "robot");
        String mine = "/api/v1/evictions?namespace=" + SPENDERS;

        assertThat(cluster.installation().api().get(mine).toString())
                .as("who may get all pods sees whom it would have been beside")
                .contains("secret-project");
        assertThat(tenant.get(mine).toString())
                .contains("holder-1", "holder-2", "late")
                .doesNotContain("secret-project");
        for (String others :
                List.of("/api/v1/evictions", "/api/v1/evictions?namespace=" + BYSTANDERS)) {
            assertThatThrownBy(() -> tenant.get(others))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("is answered 403");
        }
    }

    /** The cluster's own scheduler asks nobody whom to end for a pod without GPUs. */
    @Test
    @Order(8)
    void whatAnotherSchedulerPreemptsHasAReceiptAsWell() {
        Api api = cluster.api();
        String most =
                Integer.toString(
                        api.get("/api/v1/nodes/" + EvictingCluster.NODES.getFirst())
                                        .orFail()
                                        .at("/status/allocatable/cpu")
                                        .asInt()
                                - 1);
        api.create(
                        SPENDERS,
                        "{apiVersion: v1, kind: Pod, metadata: {name: spare}, spec: {containers: [{name: cuda, image: cuda, resources: {limits: {tencent.com/vcuda-core: 100}, requests: {cpu: '%s'}}}]}}"
                                .formatted(most))
                .orFail();
        cluster.isBound(SPENDERS, "spare");

        api.create(
                        TEAM,
                        "{apiVersion: v1, kind: Pod, metadata: {name: hungry}, spec: {nodeSelector: {kubernetes.io/hostname: %s}, containers: [{name: c, image: c, resources: {requests: {cpu: '%s'}}}]}}"
                                .formatted(
                                        cluster.pod(SPENDERS, "spare")
                                                .at("/spec/nodeName")
                                                .asText(),
                                        most))
                .orFail();

        JsonNode eviction = done("spare");
        assertThat(eviction.at("/metadata/name").asText())
                .isEqualTo("preempted-" + eviction.at("/spec/victims/0/uid").asText());
        assertThat(eviction.at("/spec/victims/0/standing").asText()).isEqualTo("OverBudget");
        assertThat(eviction.at("/spec/waiter/name").asText()).isEqualTo("hungry");
        assertThat(eviction.at("/spec/waiter/budget").asText()).isEqualTo(TEAM);
        isKept("spare", "Preemption", "Preempted", "hungry");
    }

    /**
     * Those of the two pods that were admitted in budget and are over it which have gone, or not.
     */
    private static List<String> holders(boolean gone) {
        return Stream.of("holder-1", "holder-2")
                .filter(it -> cluster.isGone(SPENDERS, it) == gone)
                .toList();
    }

    /** The object by which a pod went, once it is known whether that helped; it did. */
    private static JsonNode done(String victim) {
        JsonNode eviction =
                soon(victim + " was ended by an object that says what came of it")
                        .until(
                                () -> cluster.evictionsOf(victim),
                                it -> !it.isEmpty() && it.getFirst().at("/status").has("outcome"))
                        .getFirst();
        assertThat(cluster.evictionsOf(victim)).hasSize(1);
        assertThat(eviction.at("/status/phase").asText()).isEqualTo("Done");
        assertThat(eviction.at("/status/outcome/helped").asBoolean())
                .as("it helped: %s", eviction)
                .isTrue();
        return eviction;
    }

    private static void isKept(String victim, String cause, String result, String waiter) {
        soon("it has a receipt")
                .untilAsserted(() ->
                        assertThat(cluster.receipts(SPENDERS))
                                .filteredOn(it -> it.at("/victim/name").asText().equals(victim))
                                .singleElement()
                                .satisfies(receipt -> {
                                    assertThat(receipt.path("cause").asText()).isEqualTo(cause);
                                    assertThat(receipt.path("result").asText()).isEqualTo(result);
                                    assertThat(receipt.at("/waiter/name").asText())
                                            .isEqualTo(waiter);
                                    assertThat(receipt.path("helped").asBoolean()).isTrue();
                                }));
    }

    /** Reasons of a pod's Events, and who wrote them. */
    private static List<String> events(String namespace, String pod) {
        return EvictingCluster.items(
                        cluster.api()
                                .get(
                                        "/api/v1/namespaces/%s/events?fieldSelector=involvedObject.name%%3D%s"
                                                .formatted(namespace, pod))
                                .orFail()
                                .path("items"))
                .map(it ->
                        "%s by %s"
                                .formatted(
                                        it.path("reason").asText(),
                                        it.path("reportingComponent").asText()))
                .toList();
    }

    /** Gives every right in a namespace. */
    private static void ownerOf(String namespace, String subject) {
        String role = "everything-" + Integer.toHexString(subject.hashCode());
        cluster.api()
                .create(
                        namespace,
                        "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: %s}, rules: [{apiGroups: ['*'], resources: ['*'], verbs: ['*']}]}"
                                .formatted(role))
                .orFail();
        cluster.api()
                .create(
                        namespace,
                        "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: %1$s}, roleRef: {kind: Role, name: %1$s, apiGroup: rbac.authorization.k8s.io}, subjects: [%2$s]}"
                                .formatted(role, subject))
                .orFail();
    }

    /** A plan that would end a bystander's pod. */
    private static ObjectNode forged(String cause) {
        JsonNode pod = cluster.pod(BYSTANDERS, "secret-project");
        ObjectNode forged =
                Api.yaml(
                        "{apiVersion: gpusharing.io/v1alpha1, kind: GpuEviction, metadata: {name: forged}, spec: {cause: %s, node: %s, victims: [{namespace: %s, name: secret-project, uid: %s, node: %2$s, why: I want its GPU}]}}"
                                .formatted(
                                        cause,
                                        pod.at("/spec/nodeName").asText(),
                                        BYSTANDERS,
                                        pod.at("/metadata/uid").asText()));
        if (cause.equals("Reclaim") || cause.equals("Preemption")) {
            forged.withObject("/spec").put("settlesAt", "2100-01-01T00:00:00Z");
            forged.withObject("/spec/waiter")
                    .put("namespace", SPENDERS)
                    .put("name", "mine")
                    .put("uid", "00000000-0000-0000-0000-000000000000");
        }
        return forged;
    }
}
