package io.gpusharing.deviceplugin.start;

import static io.gpusharing.request.grammar.VcudaGrammar.CORE;
import static io.gpusharing.request.grammar.VcudaGrammar.MEMORY;

import io.gpusharing.deviceplugin.cdi.CdiDevice;
import io.gpusharing.deviceplugin.cdi.CdiFolder;
import io.gpusharing.deviceplugin.cdi.DriverFolders;
import io.gpusharing.deviceplugin.cdi.Mgctl;
import io.gpusharing.deviceplugin.cluster.NodePod;
import io.gpusharing.deviceplugin.cluster.NodePods;
import io.gpusharing.deviceplugin.cluster.RefusedPod;
import io.gpusharing.deviceplugin.dialect.Dialect;
import io.gpusharing.deviceplugin.dialect.Vcuda;
import io.gpusharing.deviceplugin.gpu.NodeGpu;
import io.gpusharing.deviceplugin.grant.GrantFile;
import io.gpusharing.deviceplugin.grant.Grants;
import io.gpusharing.deviceplugin.grant.PodGrant;
import io.gpusharing.deviceplugin.kubelet.Checkpoint;
import io.gpusharing.deviceplugin.kubelet.Checkpoint.Entry;
import io.gpusharing.deviceplugin.kubelet.DeviceResource;
import io.gpusharing.deviceplugin.kubelet.DeviceResource.StartRefused;
import io.gpusharing.deviceplugin.kubelet.PodResources.Holder;
import io.gpusharing.deviceplugin.mps.Mps;
import io.gpusharing.nvml.PhysicalGpu;
import io.gpusharing.request.ContainerRequest;
import io.gpusharing.request.ContainerRequest.Kind;
import io.gpusharing.request.PodRequest;
import io.gpusharing.request.Quantity;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A node of two GPUs, its kubelet and its pods. Time passes where somebody waits. */
final class FakeNode implements NodePods {

    final Map<String, NodePod> pods = new TreeMap<>();
    final List<Entry> table = new ArrayList<>();
    final List<Holder> api = new ArrayList<>();
    final List<String> told = new ArrayList<>();
    final TreeMap<Instant, Runnable> later = new TreeMap<>();
    List<NodeGpu> gpus = List.of(gpu(0, null), gpu(1, null));
    Instant now = Instant.parse("2026-01-01T00:00:00Z");
    boolean current = true;
    Dialect dialect = new Vcuda();

    /** By PCI bus id. */
    final Map<String, Integer> numaNodes = new HashMap<>();

    Mps mps = Mps.NONE;

    /** Whether no other plugin offers the same. */
    boolean serving = true;

    /** How often what is published has changed by a refusal. */
    int changes;

    private final Path folder;
    private Grants grants;
    private RefusedPods refused;
    private Provider provider;

    FakeNode(Path folder) throws IOException {
        this.folder = folder;
        Files.createDirectories(folder.resolve("proc"));
        grants = grants();
        refused = refusedPods();
        provider = provider();
    }

    /** The plugin ends and starts again. */
    void restart() throws IOException {
        grants = grants();
        refused = refusedPods();
        provider = provider();
    }

    private Grants grants() throws IOException {
        return new Grants(
                new GrantFile(folder.resolve("grants.json")),
                grant -> told.add(grant.uid()),
                () -> {});
    }

    private RefusedPods refusedPods() {
        return new RefusedPods(folder.resolve("refused.json"), () -> now, () -> changes++);
    }

    private Provider provider() throws IOException {
        return new Provider(
                dialect,
                new Provider.Kubelet(
                        () -> new Checkpoint(List.copyOf(table), Map.of()), () -> List.copyOf(api)),
                new Provider.Disk(
                        new CdiFolder(folder.resolve("cdi"), folder.resolve("shares")),
                        new DriverFolders(List.of()),
                        Optional.empty(),
                        Mgctl.of(folder),
                        new PodProcesses(folder.resolve("proc")),
                        numaNodes::get),
                this,
                () -> gpus,
                grants,
                refused,
                mps,
                new Pacing(() -> now, this::pass));
    }

    /**
     * A GPU.
     *
     * @param fault what needs a reset; null while it is healthy
     */
    static NodeGpu gpu(int index, @Nullable String fault) {
        return new NodeGpu(
                new PhysicalGpu(
                        index, "GPU-" + index, index, "Fake", 16384, "0000:0" + index, false),
                fault,
                fault != null);
    }

    /** Lets time pass, and what was to happen in it. */
    void pass(Duration time) {
        Instant until = now.plus(time);
        while (!later.isEmpty() && !later.firstKey().isAfter(until)) {
            now = later.firstKey();
            later.pollFirstEntry().getValue().run();
        }
        now = until;
    }

    /** A pod that the API server knows. */
    NodePod pod(String uid, ContainerRequest... containers) {
        return put(
                new NodePod(
                        uid,
                        "team",
                        "pod-" + uid,
                        false,
                        false,
                        null,
                        new PodRequest(List.of(containers)),
                        Map.of(),
                        Map.of(),
                        NodePod.Ipc.USUAL));
    }

    NodePod put(NodePod pod) {
        pods.put(pod.uid(), pod);
        return pod;
    }

    /** The API server says that it has ended. */
    void end(NodePod pod) {
        change(pod, true, pod.deletion(), pod.annotations(), Map.of());
    }

    /** Somebody deletes it, and it is not gone yet. */
    void delete(NodePod pod) {
        change(
                pod,
                pod.ended(),
                new NodePod.Deletion(now.plusSeconds(30), 30),
                pod.annotations(),
                pod.running());
    }

    /** What is published of refusals. */
    List<RefusedPod> refused() {
        return refused.all();
    }

    /** The API server says that a container runs. */
    NodePod runs(NodePod pod, String container, String id) {
        return change(pod, pod.ended(), pod.deletion(), pod.annotations(), Map.of(container, id));
    }

    NodePod annotated(NodePod pod, String key, String value) {
        return change(pod, pod.ended(), pod.deletion(), Map.of(key, value), pod.running());
    }

    private NodePod change(
            NodePod pod,
            boolean ended,
            NodePod.@Nullable Deletion deletion,
            Map<String, String> annotations,
            Map<String, String> running) {
        return put(
                new NodePod(
                        pod.uid(),
                        pod.namespace(),
                        pod.name(),
                        pod.isStatic(),
                        ended,
                        deletion,
                        pod.request(),
                        annotations,
                        running,
                        pod.ipc()));
    }

    static ContainerRequest container(String name, Kind kind, long core, long blocks) {
        return new ContainerRequest(
                name, kind, Map.of(CORE, Quantity.of(core), MEMORY, Quantity.of(blocks)), Map.of());
    }

    static ContainerRequest half(String name) {
        return container(name, Kind.App, 50, 16);
    }

    /** The kubelet admits a pod's container: it gives units away, and tells its API. */
    CdiDevice admit(NodePod pod, String container, String... units) {
        CdiDevice device = allocate(pod.uid(), container, units);
        api.add(
                new Holder(
                        pod.namespace(), pod.name(), container, deciding().name(), Set.of(units)));
        return device;
    }

    /** The kubelet gives units away; its API says nothing yet. */
    CdiDevice allocate(String podUid, String container, String... units) {
        String name = deciding().allocate(List.of(units)).getFirst();
        table.add(new Entry(podUid, container, deciding().name(), Set.of(units), List.of(name)));
        return CdiDevice.of(name).orElseThrow();
    }

    /** The kubelet is about to start the container with these units. */
    void start(String... units) throws StartRefused {
        deciding().prepare(Set.of(units));
    }

    /** NUMA nodes of the units that the kubelet sees, by id; without those that are unknown. */
    Map<String, Integer> numaNodesOfUnits() {
        var nodes = new TreeMap<String, Integer>();
        for (DeviceResource.Device unit : deciding().devices()) {
            Integer node = unit.numaNode();
            if (node != null) {
                nodes.put(unit.id(), node);
            }
        }
        return nodes;
    }

    /** Which units the kubelet is advised to give. */
    List<String> preferred(List<String> available, int size) {
        return deciding().preferred(available, List.of(), size);
    }

    private DeviceResource deciding() {
        return provider.resources().getFirst();
    }

    /** The node's disk loses what was granted, while the plugin is down. */
    void loseGrants() throws IOException {
        Files.delete(folder.resolve("grants.json"));
        restart();
    }

    /** The plugin looks once. */
    void compare() throws IOException {
        provider.compare(serving);
    }

    /** Of which pods the kubelet and the plugin do not say the same, a minute later. */
    List<String> disagreements() throws IOException {
        for (int look = 0; look < 3; look++) {
            provider.tidyUp();
            provider.compare(serving);
            pass(Duration.ofSeconds(30));
        }
        return provider.disagreements().stream()
                .map(it -> it.kind() + " " + it.pod().name())
                .sorted()
                .toList();
    }

    void tidyUp() throws IOException {
        provider.tidyUp();
    }

    /** A process of the pod. */
    void process(int pid, String podUid) throws IOException {
        Path process = Files.createDirectories(folder.resolve("proc/" + pid));
        Files.writeString(process.resolve("stat"), pid + " (python (x)) S 1 1");
        Files.writeString(
                process.resolve("cgroup"),
                "0::/kubepods.slice/kubepods-pod%s.slice/cri-containerd-1.scope\n"
                        .formatted(podUid.replace('-', '_')));
    }

    void kill(int pid) {
        try {
            Files.delete(folder.resolve("proc/" + pid + "/stat"));
            Files.delete(folder.resolve("proc/" + pid + "/cgroup"));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** What a container that starts by this name gets; empty if it cannot start. */
    Optional<String> cdi(CdiDevice device) throws IOException {
        Path file = folder.resolve("cdi/gpusharing-" + device.name() + ".json");
        return Files.exists(file) ? Optional.of(Files.readString(file)) : Optional.empty();
    }

    /** What a container that starts by this name may read about its share. */
    String share(CdiDevice device) throws IOException {
        return Files.readString(folder.resolve("shares/" + device.name() + ".json"));
    }

    List<String> shares() throws IOException {
        try (Stream<Path> files = Files.list(folder.resolve("shares"))) {
            return files.map(file -> file.getFileName().toString()).toList();
        }
    }

    List<String> holders() {
        return grants.all().stream().map(PodGrant::uid).toList();
    }

    String gpuOf(NodePod pod) {
        return grants.of(pod.uid()).orElseThrow().containers().getFirst().gpus().getFirst().gpu();
    }

    @Override
    public Optional<NodePod> byUid(String uid) {
        return Optional.ofNullable(pods.get(uid));
    }

    @Override
    public Optional<NodePod> await(String uid, Duration most) {
        Instant until = now.plus(most);
        while (!pods.containsKey(uid) && now.isBefore(until)) {
            pass(Duration.ofMillis(100));
        }
        return byUid(uid);
    }

    @Override
    public boolean isListed() {
        return current;
    }
}
