package io.gpusharing.scheduler.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.springframework.boot.health.contributor.Status.UP;

import io.fabric8.kubernetes.client.utils.Serialization;
import io.gpusharing.Names;
import io.gpusharing.scheduler.SchedulerApplication;
import io.gpusharing.scheduler.cluster.ClusterSight;
import io.gpusharing.web.Pem;
import io.gpusharing.web.testing.ClientTls;
import io.gpusharing.wire.ExplanationQuestion;
import io.gpusharing.wire.ExplanationQuestion.PodName;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The whole service, as the chart starts it beside a kube-scheduler of ours, asked as the
 * timekeeper asks it: two GPUs of which two teams have 60 each, and a pod of one of them that wants
 * 60.
 */
class ExplainedPodsHttpTest {

    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final List<String> PROPERTIES =
            List.of(
                    "kubernetes.master",
                    "kubernetes.auth.tryKubeConfig",
                    "kubernetes.auth.tryServiceAccount");

    private static final String NEW =
            """
            apiVersion: v1
            kind: Pod
            metadata: {name: later, namespace: team-a, uid: 0c5c2a52-6d0b-4b0a-9b7e-0a6f4b4b2f10, creationTimestamp: '2026-03-01T10:00:00Z'}
            spec:
              containers:
              - name: cuda
                resources: {limits: {tencent.com/vcuda-core: '60', tencent.com/vcuda-memory: '30'}}
            """;

    private static ReviewingApiServer apiServer;
    private static ConfigurableApplicationContext context;
    private static HttpClient http;
    private static URI address;

    @BeforeAll
    static void start() {
        apiServer = new ReviewingApiServer();
        placements();
        System.setProperty(PROPERTIES.get(0), apiServer.url());
        System.setProperty(PROPERTIES.get(1), "false");
        System.setProperty(PROPERTIES.get(2), "false");
        context =
                new SpringApplicationBuilder(SchedulerApplication.class)
                        .run(
                                "--server.port=0",
                                "--management.server.port=0",
                                "--management.server.address=127.0.0.1",
                                "--gpusharing.scheduler.explanations.port=0",
                                "--gpusharing.scheduler.access.subject-alternative-names=127.0.0.1");
        address =
                URI.create(
                        "https://127.0.0.1:%d/explanations"
                                .formatted(context.getBean(ExplanationsConnector.class).port()));
        await().atMost(Duration.ofSeconds(60))
                .until(() ->
                        // The authority is published before anything is served by it.
                        context.getBean(CertificateTask.class).health().getStatus().equals(UP)
                                && context.getBean(ClusterSight.class).whyUnseen().isEmpty());
        http =
                HttpClient.newBuilder()
                        .sslContext(
                                ClientTls.of(
                                        null, Pem.certificates(apiServer.published()).getFirst()))
                        .build();
    }

    @AfterAll
    static void end() {
        http.close();
        context.close();
        apiServer.close();
        PROPERTIES.forEach(System::clearProperty);
    }

    private static void placements() {
        list("/api/v1/namespaces", "metadata: {name: team-a}", "metadata: {name: team-c}");
        list("/apis/gpusharing.io/v1alpha1/gpubudgets");
        list("/apis/gpusharing.io/v1alpha1/gpugrants");
        list("/apis/gpusharing.io/v1alpha1/gpuevictions");
        list(
                "/api/v1/nodes",
                """
                metadata: {name: n1, uid: n1}
                status: {allocatable: {tencent.com/vcuda-core: '200', tencent.com/vcuda-memory: '128', cpu: '8', pods: '110'}}
                """);
        list(
                "/apis/gpusharing.io/v1alpha1/gpunodes",
                """
                metadata: {name: n1, uid: n1, resourceVersion: '1'}
                status:
                  tier: TimeSlice
                  gpus:
                  - {index: 0, uuid: GPU-0, memoryMiB: 16384, mig: false, health: Healthy, mode: Shared, grants: []}
                  - {index: 1, uuid: GPU-1, memoryMiB: 16384, mig: false, health: Healthy, mode: Shared, grants: []}
                """);
        String waits = placed("team-a", "waits", "");
        String odd =
                placed("team-a", "odd", "")
                        .replace(
                                "creationTimestamp: '2026-03-01T10:00:00Z'",
                                "creationTimestamp: once");
        list(
                "/api/v1/pods",
                waits,
                placed("team-a", "mine", "GPU-0"),
                placed("team-c", "secret", "GPU-1"));
        apiServer.put("/api/v1/namespaces/team-a/pods/waits", json(waits));
        apiServer.put("/api/v1/namespaces/team-a/pods/odd", json(odd));
    }

    private static String json(String yaml) {
        return Serialization.asJson(Serialization.unmarshal(yaml, Map.class));
    }

    private static void list(String path, String... items) {
        apiServer.put(
                path,
                "{\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[%s]}"
                        .formatted(
                                Arrays.stream(items)
                                        .map(ExplainedPodsHttpTest::json)
                                        .collect(Collectors.joining(","))));
    }

    /**
     * @param gpu where it runs; empty if it waits
     */
    private static String placed(String namespace, String name, String gpu) {
        UUID uid = UUID.nameUUIDFromBytes((namespace + name).getBytes(StandardCharsets.UTF_8));
        return """
        apiVersion: v1
        kind: Pod
        metadata:
          name: %s
          namespace: %s
          uid: %s
          resourceVersion: '1'
          creationTimestamp: '2026-03-01T10:00:00Z'
          labels: {gpusharing.io/metered: "true"}
          annotations: {%s}
        spec:
          %s
          containers:
          - name: cuda
            resources: {limits: {tencent.com/vcuda-core: '60', tencent.com/vcuda-memory: '30'}}
        status:
          phase: %s
          conditions:
          - {type: PodScheduled, status: "%s", reason: Unschedulable, lastTransitionTime: "2026-03-01T10:00:00Z"}
        """
                .formatted(
                        name,
                        namespace,
                        uid,
                        gpu.isEmpty()
                                ? ""
                                : "gpusharing.io/placement: '%s;cuda=%s'".formatted(uid, gpu),
                        gpu.isEmpty() ? "priority: 0" : "nodeName: n1",
                        gpu.isEmpty() ? "Pending" : "Running",
                        gpu.isEmpty() ? "False" : "True");
    }

    private static HttpResponse<String> ask(
            String user, @Nullable String pod, @Nullable String newPod, int nodes)
            throws IOException, InterruptedException {
        return http.send(
                HttpRequest.newBuilder(address)
                        .header(
                                "Authorization",
                                "Bearer system:serviceaccount:gpusharing-system:gpusharing-timekeeper@"
                                        + Names.EXPLANATIONS_AUDIENCE)
                        .POST(
                                BodyPublishers.ofString(
                                        JSON.writeValueAsString(
                                                new ExplanationQuestion(
                                                        user,
                                                        "",
                                                        List.of(),
                                                        Map.of(),
                                                        pod == null
                                                                ? null
                                                                : new PodName("team-a", pod),
                                                        newPod == null ? null : json(newPod),
                                                        nodes))))
                        .build(),
                BodyHandlers.ofString());
    }

    private static JsonNode explained(String user, String pod, int nodes)
            throws IOException, InterruptedException {
        HttpResponse<String> answer = ask(user, pod, null, nodes);
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        return JSON.readTree(answer.body());
    }

    @Test
    void aPodThatWaitsIsToldWhyAndWhatWouldFit() throws Exception {
        JsonNode answer = explained("may-get-in-team-a", "waits", 5);

        assertThat(answer.path("state").asString()).isEqualTo("Waits");
        assertThat(answer.path("summary").asString())
                .isEqualTo(
                        "No single GPU has 60 of 100 and 7680 MiB free: of 2 GPUs on 1 node that fit otherwise, most is free of one on n1, 40 of 100 and 8704 MiB; what fits now, on n1: tencent.com/vcuda-core: 40 and tencent.com/vcuda-memory: 30.");
        assertThat(answer.at("/details/0/gpus/0/holders/0/name").asString()).isEqualTo("mine");
        assertThat(answer.at("/details/0/gpus/1/holders/0/core").asLong()).isEqualTo(60);
        assertThat(answer.toString()).as("team-c is not theirs").doesNotContain("secret");
        assertThat(explained("may-update-gpubudgets", "waits", 5).toString()).contains("secret");
        assertThat(explained("may-get-in-team-a", "waits", 0).has("details")).isFalse();
    }

    @Test
    void aPodThatCannotBeReadIsToldWhy() throws Exception {
        JsonNode answer = explained("may-get-in-team-a", "odd", 5);

        assertThat(answer.path("state").asString()).isEqualTo("Unreadable");
        assertThat(answer.path("name").asString()).isEqualTo("odd");
        assertThat(answer.path("summary").asString())
                .startsWith("It cannot be read: ")
                .contains("once");
    }

    @Test
    void aPodThatIsNotThereIsNotFound() throws Exception {
        assertThat(ask("ada", "nobody", null, 5).statusCode()).isEqualTo(404);
    }

    @Test
    void aNewPodIsExplainedAsIfItWereThere() throws Exception {
        HttpResponse<String> answer = ask("ada", null, NEW, 5);

        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        JsonNode explained = JSON.readTree(answer.body());
        assertThat(explained.path("state").asString()).isEqualTo("New");
        assertThat(explained.path("name").asString()).isEqualTo("later");
        assertThat(explained.path("summary").asString()).startsWith("No single GPU has 60 of 100");
        assertThat(ask("ada", null, NEW.replace("'60'", "'40'"), 5).body())
                .contains("It fits on n1 as it is.");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a}]}]}}}",
                "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{operator: In}]}]}}}",
                "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: [{}]}]}}}",
                "affinity: {podAffinity: {}, podAntiAffinity: {}}",
                "initContainers: [{volumeMounts: [{}], ports: [{}]}]",
                "tolerations: [{}]",
                "topologySpreadConstraints: [{}]",
                "terminationGracePeriodSeconds: 9223372036854775807",
                "resources: {limits: {cpu: '9e999'}}",
                "overhead: {cpu: '9e999'}",
                "resourceClaims: [{}]",
                "schedulingGates: [{}]",
                "overhead: {cpu: [1]}",
                "nodeSelector: [1]"
            })
    void anOddPodIsExplainedOrRefusedInWords(String odd) throws Exception {
        HttpResponse<String> answer = ask("ada", null, NEW.replace("spec:", "spec:\n  " + odd), 5);

        assertThat(answer.statusCode()).as(answer.body()).isIn(200, 422);
    }

    @Test
    void whatDecidesAboutTheNodeOfANewPodIsRead() throws Exception {
        HttpResponse<String> answer =
                ask(
                        "ada",
                        null,
                        NEW.replace("'60'", "'40'")
                                .replace("spec:", "spec:\n  nodeSelector: {zone: elsewhere}"),
                        5);

        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        assertThat(answer.body()).doesNotContain("It fits on n1 as it is.");
    }
}
