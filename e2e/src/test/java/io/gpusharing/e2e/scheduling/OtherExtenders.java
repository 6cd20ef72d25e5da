package io.gpusharing.e2e.scheduling;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.gpusharing.e2e.admission.Api;
import io.gpusharing.e2e.cluster.Program;
import io.gpusharing.e2e.cluster.TestCluster;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;

/**
 * The cluster's own kube-scheduler, as it is configured for gpu-admission and for gpushare's
 * extender, and both of these as far as the API server sees them: gpu-admission writes on a pod
 * where it is to be while it filters, gpushare's before it binds it. Of several GPUs they know
 * nothing here.
 */
final class OtherExtenders implements AutoCloseable {

    private static final String ACCOUNTS = "system:serviceaccount:kube-system:";
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Api gpuAdmission;
    private final Api gpushare;
    private final HttpServer server;
    private final Program scheduler;

    /** In the place of the cluster's kube-scheduler, which was killed. */
    OtherExtenders(TestCluster cluster, Path kubeScheduler) throws IOException {
        this.gpuAdmission = account(cluster, "gpu-admission");
        this.gpushare = account(cluster, "gpushare-schd-extender");
        this.server =
                HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/scheduler/predicates", it -> answer(it, this::predicates));
        server.createContext("/gpushare-scheduler/filter", it -> answer(it, OtherExtenders::all));
        server.createContext("/gpushare-scheduler/bind", it -> answer(it, this::bind));
        server.start();
        Path configuration =
                Files.writeString(
                        cluster.dir().resolve("run/other-extenders.yaml"),
                        """
                        apiVersion: kubescheduler.config.k8s.io/v1
                        kind: KubeSchedulerConfiguration
                        leaderElection: {leaderElect: false}
                        clientConnection: {kubeconfig: '%1$s'}
                        extenders:
                          - urlPrefix: http://127.0.0.1:%2$d/scheduler
                            filterVerb: predicates
                            nodeCacheCapable: false
                            managedResources: [{name: tencent.com/vcuda-core}]
                          - urlPrefix: http://127.0.0.1:%2$d/gpushare-scheduler
                            filterVerb: filter
                            bindVerb: bind
                            nodeCacheCapable: true
                            managedResources: [{name: aliyun.com/gpu-mem}]
                        """
                                .formatted(cluster.kubeconfig(), server.getAddress().getPort()));
        this.scheduler =
                Program.start(
                        cluster,
                        "other-extenders",
                        Map.of(),
                        List.of(
                                kubeScheduler.toString(),
                                "--config=" + configuration,
                                "--secure-port=0"));
    }

    /** With the rights that their manifests give them. */
    private static Api account(TestCluster cluster, String name) {
        cluster.kubectl().run("create", "serviceaccount", name, "--namespace=kube-system").orFail();
        cluster.kubectl()
                .run(
                        "create",
                        "clusterrole",
                        name,
                        "--verb=get,list,watch,update,patch,create",
                        "--resource=pods,pods/binding,nodes")
                .orFail();
        cluster.kubectl()
                .run(
                        "create",
                        "clusterrolebinding",
                        name,
                        "--clusterrole=" + name,
                        "--serviceaccount=kube-system:" + name)
                .orFail();
        return new Api(cluster.client())
                .as(
                        ACCOUNTS + name,
                        "system:serviceaccounts",
                        "system:serviceaccounts:kube-system",
                        "system:authenticated");
    }

    private interface Verb {
        JsonNode answer(JsonNode question);
    }

    private static void answer(HttpExchange exchange, Verb verb) throws IOException {
        try (exchange) {
            byte[] answer =
                    verb.answer(JSON.readTree(exchange.getRequestBody()))
                            .toString()
                            .getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
        }
    }

    /** What gpu-admission writes before a pod is bound, and its one node. */
    private JsonNode predicates(JsonNode question) {
        JsonNode pod = question.path("Pod");
        ObjectNode answer = JSON.createObjectNode();
        JsonNode nodes = question.at("/Nodes/items");
        if (nodes.isEmpty()) {
            answer.putObject("Nodes").putArray("items");
            return answer;
        }
        JsonNode node = nodes.get(0);
        Api.Answer written =
                gpuAdmission.merge(
                        path(
                                pod.at("/metadata/namespace").asText(),
                                pod.at("/metadata/name").asText()),
                        """
                        metadata:
                          annotations:
                            tencent.com/predicate-node: %s
                            tencent.com/predicate-gpu-idx-0: '0'
                            tencent.com/predicate-time: '1764000000000000000'
                            tencent.com/gpu-assigned: 'false'
                        """
                                .formatted(node.at("/metadata/name").asText()));
        if (written.accepted()) {
            answer.putObject("Nodes").putArray("items").add(node);
        } else {
            answer.put("Error", written.message());
        }
        return answer;
    }

    private static JsonNode all(JsonNode question) {
        return JSON.createObjectNode().set("NodeNames", question.path("NodeNames"));
    }

    /** What gpushare's extender does: it writes on the pod, and binds it then. */
    private JsonNode bind(JsonNode question) {
        String pod =
                path(question.path("PodNamespace").asText(), question.path("PodName").asText());
        Api.Answer answer =
                gpushare.merge(
                        pod,
                        """
                        metadata:
                          annotations:
                            ALIYUN_COM_GPU_MEM_IDX: '0'
                            ALIYUN_COM_GPU_MEM_POD: '3'
                            ALIYUN_COM_GPU_MEM_DEV: '15'
                            ALIYUN_COM_GPU_MEM_ASSIGNED: 'false'
                            ALIYUN_COM_GPU_MEM_ASSUME_TIME: '1764000000000000000'
                        """);
        if (answer.accepted()) {
            answer =
                    gpushare.post(
                            pod + "/binding",
                            """
                            apiVersion: v1
                            kind: Binding
                            metadata: {name: %s, uid: %s}
                            target: {kind: Node, name: %s}
                            """
                                    .formatted(
                                            question.path("PodName").asText(),
                                            question.path("PodUID").asText(),
                                            question.path("Node").asText()));
        }
        return JSON.createObjectNode().put("Error", answer.accepted() ? "" : answer.message());
    }

    private static String path(String namespace, String pod) {
        return "/api/v1/namespaces/%s/pods/%s".formatted(namespace, pod);
    }

    @Override
    public void close() {
        scheduler.kill();
        server.stop(0);
    }
}
