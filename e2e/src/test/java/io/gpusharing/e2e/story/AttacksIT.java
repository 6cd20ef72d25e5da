package io.gpusharing.e2e.story;

import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.gpusharing.e2e.admission.Api;
import io.gpusharing.e2e.cluster.TestCluster;
import io.gpusharing.e2e.installation.UsualInstallation;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A tenant, and a user with every right in a namespace, try in every state of a pod to change what
 * charge and choice of victims depend on. What the API server accepts of it changes neither.
 *
 * <p>The pods are on a node that nobody simulates: the test writes what its kubelet would.
 */
@ExtendWith(UsualInstallation.OfTheRun.class)
class AttacksIT {

    private static final String TEAM = "attackers";
    private static final String NODE = "gpu-attacked";
    private static final String YEAR = "31536000";

    /** The longest grace that is given. */
    private static final String HOUR = "3600";

    /** A namespace's administrator, and a user with every right there. */
    private static final List<String> ATTACKERS = List.of("admin", "owner");

    private static Ledger ledger;
    private static Api administrator;
    private static Api kubelet;

    /** The states of a pod that differ for an attacker. */
    private enum State {
        GATED,
        PENDING,
        NOMINATED,
        BOUND,
        RUNNING,
        TERMINATING,
        TERMINAL;

        boolean held() {
            return Set.of(BOUND, RUNNING, TERMINATING).contains(this);
        }
    }

    /**
     * Something that is tried.
     *
     * @param act with the pod's path
     */
    private record Attack(String name, BiFunction<Api, String, Api.Answer> act) {

        static Attack merge(String name, String change) {
            return new Attack(name, (api, pod) -> api.merge(pod, change));
        }

        static Attack patch(String name, String change) {
            return new Attack(name, (api, pod) -> api.patch(pod, change));
        }

        static Attack status(String name, String change) {
            return new Attack(name, (api, pod) -> api.patch(pod + "/status", change));
        }
    }

    private static final List<Attack> AT_ANY_TIME =
            List.of(
                    Attack.merge(
                            "takes the label off",
                            "{metadata: {labels: {gpusharing.io/metered: null}}}"),
                    Attack.merge(
                            "changes the label",
                            "{metadata: {labels: {gpusharing.io/metered: 'false'}}}"),
                    Attack.merge(
                            "takes the stamp off",
                            "{metadata: {annotations: {gpusharing.io/request: null}}}"),
                    Attack.merge(
                            "names another budget",
                            "{metadata: {annotations: {gpusharing.io/budget: rich}}}"),
                    Attack.merge(
                            "changes the standing",
                            "{metadata: {annotations: {gpusharing.io/standing: InBudget, gpusharing.io/standing-as-of: now}}}"),
                    Attack.merge(
                            "spares itself",
                            "{metadata: {annotations: {gpusharing.io/do-not-reclaim: 'true'}}}"),
                    Attack.merge(
                            "disowns the meter",
                            "{metadata: {annotations: {gpusharing.io/sidecar: cuda}}}"),
                    Attack.patch(
                            "replaces the meter",
                            "{spec: {initContainers: [{name: gpusharing-sidecar, image: mine}]}}"),
                    Attack.merge(
                            "takes a higher class",
                            "{spec: {priorityClassName: system-node-critical, priority: 2000001000}}"),
                    Attack.merge(
                            "sets a far deadline", "{spec: {activeDeadlineSeconds: 2000000000}}"),
                    Attack.merge(
                            "gives itself a year",
                            "{spec: {terminationGracePeriodSeconds: %s}}".formatted(YEAR)),
                    Attack.merge(
                            "asks for less",
                            "{spec: {containers: [{name: cuda, image: cuda, resources: {limits: {tencent.com/vcuda-core: 1, tencent.com/vcuda-memory: 1}}}]}}"),
                    new Attack(
                            "is owned by its node",
                            (api, pod) ->
                                    api.merge(
                                            pod,
                                            "{metadata: {ownerReferences: [{apiVersion: v1, kind: Node, name: %s, uid: %s, controller: true}]}}"
                                                    .formatted(NODE, nodeUid()))),
                    Attack.merge(
                            "says that it is static",
                            "{metadata: {annotations: {kubernetes.io/config.mirror: '1'}}}"),
                    new Attack(
                            "holds itself by a finalizer, and lets go",
                            (api, pod) -> {
                                api.merge(pod, "{metadata: {finalizers: [example.com/mine]}}");
                                return api.merge(pod, "{metadata: {finalizers: null}}");
                            }),
                    Attack.merge("forgets who wrote it", "{metadata: {managedFields: [{}]}}"),
                    Attack.merge(
                            "says that a kubelet wrote its status long ago",
                            forged("2020-01-01T00:00:00Z")),
                    new Attack(
                            "adds a debug container that sees all GPUs",
                            (api, pod) ->
                                    api.patch(
                                            pod + "/ephemeralcontainers",
                                            "{spec: {ephemeralContainers: [{name: d, image: d, env: [{name: NVIDIA_VISIBLE_DEVICES, value: all}]}]}}")),
                    new Attack(
                            "resizes itself",
                            (api, pod) ->
                                    api.patch(
                                            pod + "/resize",
                                            "{spec: {containers: [{name: cuda, resources: {limits: {tencent.com/vcuda-core: 1}}}]}}")),
                    Attack.status(
                            "takes the label off by the status",
                            "{metadata: {labels: {gpusharing.io/metered: null}}}"),
                    Attack.status("has failed", "{status: {phase: Failed, reason: Evicted}}"),
                    Attack.status(
                            "was scheduled just now",
                            "{status: {conditions: [{type: PodScheduled, status: 'True', lastTransitionTime: '2030-01-01T00:00:00Z'}]}}"),
                    Attack.status(
                            "was never scheduled",
                            "{status: {conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable}]}}"),
                    Attack.status(
                            "was lost with its node",
                            "{status: {conditions: [{type: DisruptionTarget, status: 'True', reason: DeletionByPodGC, lastTransitionTime: '2020-01-01T00:00:00Z'}]}}"),
                    Attack.status(
                            "started in another year",
                            "{status: {startTime: '2030-01-01T00:00:00Z'}}"),
                    Attack.status("is nominated", "{status: {nominatedNodeName: gpu-node-2}}"),
                    Attack.status(
                            "has ended long ago",
                            "{status: {containerStatuses: [{name: cuda, image: cuda, imageID: '', ready: false, restartCount: 0, state: {terminated: {exitCode: 0, finishedAt: '2020-01-01T00:00:00Z'}}}]}}"),
                    new Attack(
                            "is bound to a GPU of its choice",
                            (api, pod) ->
                                    api.post(
                                            pod + "/binding",
                                            "{apiVersion: v1, kind: Binding, metadata: {name: %s, annotations: {gpusharing.io/placement: 'u;cuda=GPU-1'}}, target: {apiVersion: v1, kind: Node, name: gpu-node-2}}"
                                                    .formatted(name(pod)))),
                    new Attack(
                            "is bound with a stamp",
                            (api, pod) ->
                                    api.post(
                                            pod + "/binding",
                                            "{apiVersion: v1, kind: Binding, metadata: {name: %s, annotations: {gpusharing.io/do-not-reclaim: 'true'}}, target: {apiVersion: v1, kind: Node, name: gpu-node-2}}"
                                                    .formatted(name(pod)))));

    /** These end a pod that holds nothing, as they should. */
    private static final List<Attack> WHILE_IT_HOLDS_A_GPU =
            List.of(
                    new Attack(
                            "is deleted without grace",
                            (api, pod) -> api.delete(pod + "?gracePeriodSeconds=0")),
                    new Attack(
                            "is deleted with all others, without grace",
                            (api, pod) ->
                                    api.delete(
                                            pod.substring(0, pod.lastIndexOf('/'))
                                                    + "?gracePeriodSeconds=0&fieldSelector=metadata.name="
                                                    + name(pod))),
                    new Attack(
                            "is evicted without grace",
                            (api, pod) ->
                                    api.post(
                                            pod + "/eviction",
                                            "{apiVersion: policy/v1, kind: Eviction, metadata: {name: %s}, deleteOptions: {gracePeriodSeconds: 0}}"
                                                    .formatted(name(pod)))),
                    new Attack(
                            "is evicted with a year's grace",
                            (api, pod) ->
                                    api.post(
                                            pod + "/eviction",
                                            "{apiVersion: policy/v1, kind: Eviction, metadata: {name: %s}, deleteOptions: {gracePeriodSeconds: %s}}"
                                                    .formatted(name(pod), YEAR))),
                    new Attack(
                            "is deleted with a year's grace",
                            (api, pod) -> api.delete(pod + "?gracePeriodSeconds=" + YEAR)));

    private static String nodeUid() {
        return administrator.get("/api/v1/nodes/" + NODE).orFail().at("/metadata/uid").asText();
    }

    private static String forged(String time) {
        return """
        {metadata: {managedFields: [{manager: kubelet, operation: Update, apiVersion: v1, time: '%s', fieldsType: FieldsV1,
          subresource: status, fieldsV1: {'f:status': {'f:conditions': {'k:{"type":"PodScheduled"}': {'f:lastTransitionTime': {}}}}}}]}}
        """
                .formatted(time);
    }

    @BeforeAll
    static void start(UsualInstallation usual) {
        TestCluster cluster = usual.cluster();
        ledger = Ledger.of(cluster, usual.installation());
        administrator = new Api(cluster.client());
        kubelet = administrator.as("system:node:" + NODE, "system:nodes", "system:authenticated");
        cluster.createNamespace(TEAM);
        rights();
        administrator
                .create(
                        "",
                        "{apiVersion: gpusharing.io/v1alpha1, kind: GpuBudget, metadata: {name: %s}, spec: {namespaces: [%1$s], gpuMinutes: '10000'}}"
                                .formatted(TEAM))
                .orFail();
        String amounts =
                "{cpu: 64, memory: 256Gi, pods: 110, tencent.com/vcuda-core: 10000, tencent.com/vcuda-memory: 6000}";
        administrator
                .create("", "{apiVersion: v1, kind: Node, metadata: {name: %s}}".formatted(NODE))
                .orFail();
        administrator
                .merge(
                        "/api/v1/nodes/" + NODE + "/status",
                        "{status: {capacity: %s, allocatable: %1$s}}".formatted(amounts))
                .orFail();
    }

    private static void rights() {
        administrator
                .create(
                        TEAM,
                        "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: everything}, rules: [{apiGroups: ['*'], resources: ['*'], verbs: ['*']}]}")
                .orFail();
        Map.of(
                        "admin",
                        "{kind: ClusterRole, name: admin, apiGroup: rbac.authorization.k8s.io}",
                        "owner",
                        "{kind: Role, name: everything, apiGroup: rbac.authorization.k8s.io}")
                .forEach((user, role) ->
                        administrator
                                .create(
                                        TEAM,
                                        "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: %s}, roleRef: %s, subjects: [{kind: User, name: %1$s, apiGroup: rbac.authorization.k8s.io}]}"
                                                .formatted(user, role))
                                .orFail());
    }

    @AfterAll
    static void nobodyWaits() {
        administrator.delete("/api/v1/namespaces/" + TEAM + "/pods?gracePeriodSeconds=0").orFail();
    }

    @Test
    void noChangeByATenantAffectsAChargeOrSparesAVictim() {
        var pods = new TreeMap<String, State>();
        for (String attacker : ATTACKERS) {
            for (State state : State.values()) {
                String name = attacker + "-" + state.name().toLowerCase(Locale.ROOT);
                bringTo(state, name);
                pods.put(name, state);
            }
        }
        mark("before");
        Map<String, Ledger.AllocationInterval> charged = ledger.allocations(TEAM);
        assertThat(charged.keySet())
                .containsAll(
                        pods.entrySet().stream()
                                .filter(it -> it.getValue().held())
                                .map(Map.Entry::getKey)
                                .toList());

        var taken = new TreeSet<String>();
        pods.forEach((name, state) -> taken.addAll(attack(name, state)));
        mark("after");

        System.out.println("taken by the API server, to no effect: " + taken);
        Map<String, Ledger.AllocationInterval> still = new TreeMap<>(ledger.allocations(TEAM));
        still.remove("after");
        assertThat(still).isEqualTo(charged);
        theirEndsAreThoseThatTheKubeletReports(pods);
    }

    /** Tries everything on one pod; returns what the API server accepted. */
    private static Set<String> attack(String name, State state) {
        Api attacker =
                administrator.as(name.substring(0, name.indexOf('-')), "system:authenticated");
        String pod = Api.pod(TEAM, name);
        var taken = new TreeSet<String>();
        for (Attack attack :
                Stream.concat(
                                AT_ANY_TIME.stream(),
                                state.held() ? WHILE_IT_HOLDS_A_GPU.stream() : Stream.of())
                        .toList()) {
            ObjectNode before = administrator.get(pod).orFail();
            Api.Answer answer = attack.act().apply(attacker, pod);
            assertThat(answer.code()).as("%s %s", name, attack.name()).isLessThan(500);
            ObjectNode after = administrator.get(pod).orFail();
            assertThat(whatDecides(after))
                    .as("%s %s: %s", name, attack.name(), answer)
                    .isEqualTo(whatDecides(before));
            if (answer.accepted()) {
                taken.add(attack.name());
            }
        }
        return taken;
    }

    /** What charging and the choice of victims read of a pod. */
    private static ObjectNode whatDecides(ObjectNode pod) {
        ObjectNode read = new ObjectMapper().createObjectNode();
        for (String part : List.of("/metadata/labels", "/metadata/annotations")) {
            pod.at(part).properties().stream()
                    .filter(it ->
                            it.getKey().startsWith("gpusharing.io/")
                                    || it.getKey().contains("mirror"))
                    .forEach(it -> read.set(it.getKey(), it.getValue()));
        }
        for (String path :
                List.of(
                        "/spec/nodeName",
                        "/spec/priority",
                        "/spec/priorityClassName",
                        "/spec/preemptionPolicy",
                        "/spec/containers/0/resources",
                        "/spec/terminationGracePeriodSeconds",
                        "/status/phase",
                        "/status/startTime",
                        "/status/nominatedNodeName",
                        "/status/containerStatuses",
                        "/status/initContainerStatuses")) {
            read.set(path, pod.at(path));
        }
        for (JsonNode condition : pod.at("/status/conditions")) {
            if (Set.of("PodScheduled", "DisruptionTarget", "Ready")
                    .contains(condition.path("type").asText())) {
                read.set(condition.path("type").asText(), condition);
            }
        }
        return read;
    }

    private static void bringTo(State state, String name) {
        ObjectNode manifest =
                Api.yaml(
                        """
                        apiVersion: v1
                        kind: Pod
                        metadata: {name: %s}
                        spec:
                          schedulerName: nobody
                          containers: [{name: cuda, image: cuda, resources: {limits: {tencent.com/vcuda-core: 50, tencent.com/vcuda-memory: 15}}}]
                        """
                                .formatted(name));
        if (state == State.GATED) {
            manifest.withObject("/spec")
                    .putArray("schedulingGates")
                    .addObject()
                    .put("name", "example.com/later");
        }
        administrator.as("admin", "system:authenticated").create(TEAM, manifest).orFail();
        String pod = Api.pod(TEAM, name);
        if (state == State.NOMINATED) {
            administrator
                    .merge(pod + "/status", "{status: {nominatedNodeName: %s}}".formatted(NODE))
                    .orFail();
        }
        if (state.held() || state == State.TERMINAL) {
            bind(name);
        }
        if (state == State.RUNNING || state == State.TERMINATING || state == State.TERMINAL) {
            runs(name);
        }
        if (state == State.TERMINATING) {
            administrator
                    .as("admin", "system:authenticated")
                    .delete(pod + "?gracePeriodSeconds=" + HOUR)
                    .orFail();
        }
        if (state == State.TERMINAL) {
            ends(name);
        }
    }

    private static void bind(String name) {
        administrator
                .as("system:kube-scheduler")
                .create(
                        TEAM,
                        "{apiVersion: v1, kind: Binding, metadata: {name: %s}, target: {apiVersion: v1, kind: Node, name: %s}}"
                                .formatted(name, NODE))
                .orFail();
    }

    private static void runs(String name) {
        kubelet.patch(
                        Api.pod(TEAM, name) + "/status",
                        "{status: {phase: Running, startTime: '%1$s', containerStatuses: [%2$s]}}"
                                .formatted(
                                        now(),
                                        container("running: {startedAt: '%s'}".formatted(now()))))
                .orFail();
    }

    /** When its kubelet says that it ended. */
    private static String ends(String name) {
        String now = now();
        kubelet.patch(
                        Api.pod(TEAM, name) + "/status",
                        "{status: {phase: Succeeded, containerStatuses: [%s]}}"
                                .formatted(
                                        container(
                                                "terminated: {exitCode: 0, finishedAt: '%s'}"
                                                        .formatted(now))))
                .orFail();
        return now;
    }

    private static String container(String state) {
        return "{name: cuda, image: cuda, imageID: '', ready: false, restartCount: 0, state: {%s}}"
                .formatted(state);
    }

    private static String now() {
        return Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
    }

    /**
     * Binds one more pod and waits until the ledger knows it; then it knows all that was before.
     */
    private static void mark(String name) {
        bringTo(State.BOUND, name);
        await("the ledger knows " + name)
                .atMost(Duration.ofSeconds(60))
                .until(() -> ledger.allocations(TEAM).containsKey(name));
    }

    private static void theirEndsAreThoseThatTheKubeletReports(Map<String, State> pods) {
        Map<String, String> ends =
                pods.entrySet().stream()
                        .filter(it -> it.getValue().held())
                        .collect(
                                toMap(
                                        Map.Entry::getKey,
                                        it ->
                                                ends(it.getKey())
                                                        .replace('T', ' ')
                                                        .replace("Z", "")));
        await("the ledger knows all ends")
                .atMost(Duration.ofSeconds(60))
                .untilAsserted(() ->
                        assertThat(ledger.allocations(TEAM))
                                .allSatisfy((name, allocation) ->
                                        assertThat(allocation.until())
                                                .startsWith(ends.getOrDefault(name, ""))));
        assertThat(ledger.estimated()).isZero();
    }

    private static String name(String pod) {
        return pod.substring(pod.lastIndexOf('/') + 1);
    }
}
