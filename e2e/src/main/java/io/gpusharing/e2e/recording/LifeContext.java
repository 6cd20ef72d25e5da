package io.gpusharing.e2e.recording;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.gpusharing.e2e.cluster.TestCluster;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.awaitility.Awaitility;

/**
 * Where one life is lived: a namespace of its name, the cluster, and what was recorded of it so
 * far.
 */
final class LifeContext {

    /** Ends at SIGTERM, as a good container does. */
    static final String RUN = "trap 'exit 0' TERM; while :; do sleep 0.2; done";

    /** The first process of a container that has no handler for SIGTERM ignores it. */
    static final String IGNORES_SIGTERM = "sleep 1000000";

    /** Begins the label that no node has until a life puts it there. */
    static final String PLACE = "gpusharing.test/";

    static final String IMAGE = "nvidia/cuda:12.6.3-base-ubuntu24.04";

    private final TestCluster cluster;
    private final Recorder recorder;
    private final String life;
    private String namespace;

    LifeContext(TestCluster cluster, Recorder recorder, String life) {
        this.cluster = cluster;
        this.recorder = recorder;
        this.life = life;
        this.namespace = life;
    }

    TestCluster cluster() {
        return cluster;
    }

    /** The life's name. */
    String name() {
        return life;
    }

    /** Makes the life's namespace. */
    void open() {
        cluster.createNamespace(namespace);
    }

    /** Goes on in a namespace that admission leaves alone: what it would refuse exists there. */
    void inKubeSystem() {
        namespace = "kube-system";
    }

    String namespace() {
        return namespace;
    }

    /**
     * A pod of this life that asks for a tenth of a GPU.
     *
     * @param script what its container runs
     */
    Pod pod(String name, String script, Consumer<PodSpec> more) {
        var pod =
                new PodBuilder()
                        .withNewMetadata()
                        .withName(name)
                        .withNamespace(namespace)
                        .addToLabels(Version.LIFE, life)
                        .endMetadata()
                        .withNewSpec()
                        .withRestartPolicy("Never")
                        .withContainers(container("cuda", script))
                        .endSpec()
                        .build();
        pod.getSpec()
                .getContainers()
                .getFirst()
                .getResources()
                .setLimits(
                        new LinkedHashMap<>(
                                Map.of(
                                        "tencent.com/vcuda-core", new Quantity("10"),
                                        "tencent.com/vcuda-memory", new Quantity("1"))));
        more.accept(pod.getSpec());
        return pod;
    }

    static Container container(String name, String script) {
        var container = new Container();
        container.setName(name);
        container.setImage(IMAGE);
        container.setCommand(List.of("sh", "-c", script));
        container.setResources(new ResourceRequirements());
        return container;
    }

    /** Creates the only pod of this life. */
    void create(String script, Consumer<PodSpec> more) {
        create(pod("pod", script, more));
    }

    void create(String script) {
        create(script, spec -> {});
    }

    void create(Pod pod) {
        cluster.kubectl().pipe(Serialization.asYaml(pod), "create", "-f", "-").orFail();
    }

    /** Runs kubectl in this life's namespace; fails if it fails. */
    String kubectl(String... arguments) {
        var all = new ArrayList<>(List.of(arguments));
        all.addFirst("--namespace=" + namespace);
        return cluster.kubectl().run(all.toArray(String[]::new)).orFail();
    }

    void delete(String... more) {
        var all = new ArrayList<>(List.of("delete", "pod", "pod", "--wait=false"));
        all.addAll(List.of(more));
        kubectl(all.toArray(String[]::new));
    }

    void rest(int seconds) {
        try {
            Thread.sleep(Duration.ofSeconds(seconds));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** Waits until the last version of the pod is as wanted. */
    void until(String what, Predicate<Version> wanted) {
        until("pod", what, 240, wanted);
    }

    void until(String pod, String what, int seconds, Predicate<Version> wanted) {
        Awaitility.await(life + ": " + pod + " " + what)
                .atMost(Duration.ofSeconds(seconds))
                .pollInterval(Duration.ofMillis(50))
                .until(() ->
                        versions(pod).stream()
                                .reduce((first, last) -> last)
                                .filter(wanted)
                                .isPresent());
    }

    void untilReady() {
        until("is ready", Version::ready);
    }

    void untilTerminal() {
        until("has ended", Version::terminal);
    }

    /** As another scheduler binds. */
    void bind(String pod, String node) {
        raw(
                "/api/v1/namespaces/%s/pods/%s/binding".formatted(namespace, pod),
                """
                {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "%s"},
                 "target": {"apiVersion": "v1", "kind": "Node", "name": "%s"}}
                """
                        .formatted(pod, node));
    }

    void evict(String pod) {
        raw(
                "/api/v1/namespaces/%s/pods/%s/eviction".formatted(namespace, pod),
                """
                {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "%s"}}
                """
                        .formatted(pod));
    }

    private void raw(String path, String body) {
        cluster.kubectl().pipe(body, "create", "--raw", path, "-f", "-").orFail();
    }

    /** Lets a node have what this life's pods wait for. */
    void givePlace() {
        cluster.kubectl().run("label", "node", "gpu-node-1", PLACE + life + "=here").orFail();
    }

    /** A resource of which the node has one. */
    String onlyOne() {
        String resource = "example.com/" + life;
        cluster.kubectl()
                .run(
                        "patch",
                        "node",
                        "gpu-node-1",
                        "--subresource=status",
                        "--type=merge",
                        "-p={\"status\":{\"capacity\":{\"%s\":\"1\"},\"allocatable\":{\"%1$s\":\"1\"}}}"
                                .formatted(resource))
                .orFail();
        return resource;
    }

    /** A class above the usual one, named after this life. */
    void priorityClass() {
        cluster.kubectl().run("create", "priorityclass", life, "--value=1000").orFail();
    }

    /** Puts a manifest where the kubelet of a node looks for its own pods. */
    void staticPod(String node, Pod pod) {
        // Through a file that every node sees: moved at once, never read half written.
        Path manifest = cluster.dir().resolve(life + ".yaml");
        try {
            Files.writeString(manifest, Serialization.asYaml(pod));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        cluster.node("on", node, "mv", manifest.toString(), "/etc/kubernetes/manifests/");
    }

    void noStaticPod(String node) {
        cluster.node("on", node, "rm", "/etc/kubernetes/manifests/" + life + ".yaml");
    }

    /** Lets a node have an image under another name. */
    void tagImage(String node, String name) {
        cluster.node(
                "on", node, "ctr", "-n", "k8s.io", "images", "tag", "docker.io/" + IMAGE, name);
    }

    /** Takes from a node what an earlier run may have named so. */
    void untagImage(String node, String name) {
        cluster.node("on", node, "ctr", "-n", "k8s.io", "images", "rm", name);
    }

    /** Starts or kills a device plugin that offers {@code example.com/device}. */
    void devicePlugin(String node, boolean there) {
        cluster.node(there ? "start" : "stop", node, "device-plugin");
        if (there) {
            Awaitility.await("the node has a device")
                    .atMost(Duration.ofSeconds(30))
                    .until(() ->
                            cluster.kubectl()
                                    .run(
                                            "get",
                                            "node",
                                            node,
                                            "-o=jsonpath={.status.allocatable.example\\.com/device}")
                                    .text()
                                    .equals("1"));
        }
    }

    /** Deletes what is left of it, and waits for its last version. */
    void away() {
        for (String pod : recorder.of(life).stream().map(Version::name).distinct().toList()) {
            if (!versions(pod).getLast().removed()) {
                kubectl("delete", "pod", pod, "--wait=false", "--ignore-not-found");
                until(pod, "is gone", 120, Version::removed);
            }
        }
    }

    private List<Version> versions(String pod) {
        return recorder.of(life).stream().filter(it -> it.name().equals(pod)).toList();
    }
}
