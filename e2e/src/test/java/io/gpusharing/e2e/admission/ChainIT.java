package io.gpusharing.e2e.admission;

import static io.gpusharing.e2e.admission.AdmissionCluster.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Other mutating webhooks before and after ours, in the order in which the API server really calls
 * them. Each has its own namespace.
 */
@OnAdmissionCluster
class ChainIT {

    private static final String GPU =
            "{tencent.com/vcuda-core: '50', tencent.com/vcuda-memory: '15'}";

    /** What a service mesh does: a label, an annotation, a container, a variable for everybody. */
    private static String mesh(JsonNode pod) {
        var operations = new ArrayList<String>();
        operations.add(add("/metadata/labels/mesh", "injected"));
        operations.add(add("/metadata/annotations/mesh.example.com~1status", "injected"));
        operations.addAll(0, missing(pod, "labels", "annotations"));
        operations.add(add("/spec/containers/-", "{name: proxy, image: proxy}"));
        operations.addAll(variable(pod));
        return operations.toString();
    }

    /** A variable for every container that does not have it yet, init containers included. */
    private static List<String> variable(JsonNode pod) {
        var operations = new ArrayList<String>();
        for (String list : List.of("containers", "initContainers")) {
            int index = 0;
            for (JsonNode container : pod.path("spec").path(list)) {
                String env = "/spec/" + list + "/" + index++ + "/env";
                String entry = "{name: MESH, value: 'on'}";
                if (!container.has("env")) {
                    operations.add(add(env, "[" + entry + "]"));
                } else if (!Pods.names(container.path("env")).contains("MESH")) {
                    operations.add(add(env + "/-", entry));
                }
            }
        }
        return operations;
    }

    private static String core(int amount) {
        return "[{op: replace, path: /spec/containers/0/resources/limits/tencent.com~1vcuda-core, value: '%1$d'}, {op: replace, path: /spec/containers/0/resources/requests/tencent.com~1vcuda-core, value: '%1$d'}]"
                .formatted(amount);
    }

    private static List<String> missing(JsonNode pod, String... maps) {
        return List.of(maps).stream()
                .filter(map -> !pod.path("metadata").has(map))
                .map(map -> add("/metadata/" + map, "{}"))
                .toList();
    }

    private static String add(String path, String value) {
        return "{op: add, path: '%s', value: %s}".formatted(path, value);
    }

    private static OtherWebhook other;
    private final Api api;

    ChainIT(AdmissionCluster cluster) {
        this.api = cluster.api();
    }

    @BeforeAll
    static void start(AdmissionCluster cluster) {
        cluster.withWebhook();
        Api api = cluster.api();
        other = OtherWebhook.start();
        register(cluster, "aaa-mesh", "mesh-before", "Never", ChainIT::mesh);
        register(cluster, "zzz-mesh", "mesh-after", "Never", ChainIT::mesh);
        register(cluster, "aaa-again", "asked-again", "IfNeeded", pod -> variable(pod).toString());
        register(
                cluster,
                "aaa-gpu",
                "gpu-before",
                "Never",
                pod -> "[" + add("/spec/containers/0/resources", "{limits: " + GPU + "}") + "]");
        register(
                cluster,
                "zzz-gpu",
                "gpu-after",
                "Never",
                pod ->
                        "["
                                + add(
                                        "/spec/containers/-",
                                        "{name: late, image: late, resources: {limits: "
                                                + GPU
                                                + "}}")
                                + "]");
        register(cluster, "zzz-more", "more-after", "Never", pod -> core(60));
        register(cluster, "zzz-illegal", "illegal-after", "Never", pod -> core(150));
        register(
                cluster,
                "zzz-most",
                "more-and-more",
                "IfNeeded",
                pod ->
                        core(
                                10
                                        + pod.at(
                                                        "/spec/containers/0/resources/limits/tencent.com~1vcuda-core")
                                                .asInt()));
        // The last one registered is the last one that the API server observes.
        eventually("the API server asks the other webhooks too")
                .until(() -> !api.dryRun("more-and-more", Pods.halfAGpu("probe")).accepted());
    }

    @AfterAll
    static void end(AdmissionCluster cluster) {
        List.of(
                        "aaa-mesh",
                        "zzz-mesh",
                        "aaa-again",
                        "aaa-gpu",
                        "zzz-gpu",
                        "zzz-more",
                        "zzz-illegal",
                        "zzz-most")
                .forEach(name ->
                        cluster.api()
                                .delete(
                                        "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/"
                                                + name)
                                .orFail());
        other.close();
    }

    @Test
    void containersAddedBeforeOursRemainAndComeAfterIt() {
        ObjectNode pod = api.create("mesh-before", Pods.halfAGpu("a")).orFail();

        assertMeshed(pod);
        assertThat(Pods.names(pod.at("/spec/initContainers")))
                .containsExactly("gpusharing-sidecar");
        assertThat(Pods.annotation(pod, "gpusharing.io/request"))
                .isEqualTo("cuda/tencent.com/vcuda-core=50,cuda/tencent.com/vcuda-memory=15");
    }

    @Test
    void otherWebhooksMayAddHarmlessThingsAfterOurs() {
        ObjectNode pod = api.create("mesh-after", Pods.halfAGpu("a")).orFail();

        assertMeshed(pod);
        assertThat(Pods.names(Pods.sidecar(pod).path("env"))).contains("MESH", "GPUSHARING_POD");
        assertThat(Pods.names(pod.at("/spec/initContainers")))
                .as("asked again, we know our container in what was made of it")
                .containsExactly("gpusharing-sidecar");
    }

    @Test
    void podsWithoutAGpuAreChangedByOtherWebhooksOnly() {
        ObjectNode pod = api.create("mesh-before", Pods.withoutGpu("cpu")).orFail();

        assertMeshed(pod);
        assertThat(pod.at("/spec/initContainers").isMissingNode()).isTrue();
    }

    @Test
    void aWebhookThatIsReinvokedBecauseOfOursAddsNothingTwice() {
        ObjectNode pod = api.create("asked-again", Pods.halfAGpu("a")).orFail();

        assertThat(Pods.names(pod.at("/spec/initContainers")))
                .containsExactly("gpusharing-sidecar");
        assertThat(Pods.names(Pods.sidecar(pod).path("env")))
                .as("asked a second time, it saw our container too")
                .containsOnlyOnce("MESH");
        assertThat(Pods.names(pod.at("/spec/containers/0/env"))).containsExactly("MESH");
    }

    @Test
    void aGpuAddedByAnEarlierWebhookIsValidatedAndCompleted() {
        ObjectNode pod = api.create("gpu-before", Pods.withoutGpu("a")).orFail();

        assertThat(Pods.annotation(pod, "gpusharing.io/request"))
                .isEqualTo("web/tencent.com/vcuda-core=50,web/tencent.com/vcuda-memory=15");
        assertThat(Pods.sidecar(pod).isMissingNode()).isFalse();
    }

    @Test
    void aGpuAddedByALaterWebhookIsValidatedAndStampedToo() {
        ObjectNode pod = api.create("gpu-after", Pods.halfAGpu("a")).orFail();

        assertThat(Pods.annotation(pod, "gpusharing.io/request"))
                .isEqualTo(
                        "cuda/tencent.com/vcuda-core=50,cuda/tencent.com/vcuda-memory=15,late/tencent.com/vcuda-core=50,late/tencent.com/vcuda-memory=15");
    }

    @Test
    void aGpuThatALaterWebhookAddsToAPodWithoutOneIsRefusedToo() {
        Api.Answer answer = api.create("gpu-after", Pods.withoutGpu("a"));

        assertThat(answer.code()).isEqualTo(403);
        assertThat(answer.message()).contains("another webhook added the GPU afterwards");
    }

    @Test
    void anAmountThatALaterWebhookRaisesIsStampedAgain() {
        ObjectNode pod = api.create("more-after", Pods.halfAGpu("a")).orFail();

        assertThat(Pods.annotation(pod, "gpusharing.io/request"))
                .isEqualTo("cuda/tencent.com/vcuda-core=60,cuda/tencent.com/vcuda-memory=15");
        assertThat(Pods.annotation(pod, "tencent.com/vcuda-core-limit")).isEqualTo("60");
        assertThat(Pods.names(pod.at("/spec/initContainers")))
                .containsExactly("gpusharing-sidecar");
    }

    @Test
    void anAmountThatALaterWebhookMakesIllegalIsRefused() {
        Api.Answer answer = api.create("illegal-after", Pods.halfAGpu("a"));

        assertThat(answer.code()).isEqualTo(422);
        assertThat(answer.message()).contains("tencent.com/vcuda-core] is 150");
    }

    /** No webhook is called a third time. */
    @Test
    void anAmountRaisedAfterTheReinvocationIsRefusedByThePolicy() {
        Api.Answer answer = api.create("more-and-more", Pods.halfAGpu("a"));

        assertThat(answer.code()).isEqualTo(403);
        assertThat(answer.message())
                .contains("ValidatingAdmissionPolicy 'gpusharing-protected'")
                .contains("another webhook changed them afterwards")
                .contains("Checked: cuda/tencent.com/vcuda-core=60")
                .containsPattern("now: .*cuda/tencent.com/vcuda-core=70");
    }

    private static void assertMeshed(ObjectNode pod) {
        assertThat(pod.at("/metadata/labels/mesh").asText()).isEqualTo("injected");
        assertThat(Pods.annotation(pod, "mesh.example.com/status")).isEqualTo("injected");
        assertThat(Pods.names(pod.at("/spec/containers"))).endsWith("proxy");
        assertThat(Pods.names(pod.at("/spec/containers/0/env"))).containsExactly("MESH");
    }

    private static void register(
            AdmissionCluster cluster,
            String name,
            String namespace,
            String reinvocation,
            Function<JsonNode, String> patch) {
        cluster.namespace(namespace);
        other.register(cluster.api(), name, namespace, reinvocation, patch);
    }
}
