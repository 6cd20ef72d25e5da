package io.gpusharing.deviceplugin;

import io.gpusharing.AotCache;
import io.gpusharing.Names;
import io.gpusharing.deviceplugin.Settings.BadSettings;
import io.gpusharing.deviceplugin.cdi.CdiFolder;
import io.gpusharing.deviceplugin.cdi.DriverFolders;
import io.gpusharing.deviceplugin.cdi.Interceptor;
import io.gpusharing.deviceplugin.cdi.Mgctl;
import io.gpusharing.deviceplugin.cluster.ApiServer;
import io.gpusharing.deviceplugin.cluster.GpuNodePublisher;
import io.gpusharing.deviceplugin.cluster.GpuNodeStatus;
import io.gpusharing.deviceplugin.cluster.NodeLabels;
import io.gpusharing.deviceplugin.cluster.NodeView;
import io.gpusharing.deviceplugin.cluster.NumaNodes;
import io.gpusharing.deviceplugin.cluster.PodEvents;
import io.gpusharing.deviceplugin.cluster.PodWatch;
import io.gpusharing.deviceplugin.cluster.SharedConfigMap;
import io.gpusharing.deviceplugin.dialect.Dialect;
import io.gpusharing.deviceplugin.gpu.GpuMonitor;
import io.gpusharing.deviceplugin.gpu.NodeGpu;
import io.gpusharing.deviceplugin.gpu.NodeGpus;
import io.gpusharing.deviceplugin.grant.GrantFile;
import io.gpusharing.deviceplugin.grant.Grants;
import io.gpusharing.deviceplugin.kubelet.CheckpointFile;
import io.gpusharing.deviceplugin.kubelet.DeviceResource;
import io.gpusharing.deviceplugin.kubelet.PodResources;
import io.gpusharing.deviceplugin.kubelet.Registration;
import io.gpusharing.deviceplugin.kubelet.UnixSockets;
import io.gpusharing.deviceplugin.mps.CooperativeMps;
import io.gpusharing.deviceplugin.mps.GpuFolder;
import io.gpusharing.deviceplugin.mps.GpusLeftByMps;
import io.gpusharing.deviceplugin.mps.Mps;
import io.gpusharing.deviceplugin.mps.MpsProgram;
import io.gpusharing.deviceplugin.runtime.ContainerRuntime;
import io.gpusharing.deviceplugin.start.Pacing;
import io.gpusharing.deviceplugin.start.PodProcesses;
import io.gpusharing.deviceplugin.start.Provider;
import io.gpusharing.deviceplugin.start.RefusedPods;
import io.gpusharing.nvml.DeviceAccess;
import io.gpusharing.nvml.NvmlLibrary;
import io.gpusharing.nvml.TimeSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The entry point: hands out fractions of this node's GPUs until SIGTERM. */
public final class DevicePlugin implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(DevicePlugin.class);

    /** The environment cannot be used; restarting alone will not mend it. */
    private static final int BAD_SETTINGS = 78;

    private static final Duration TIDY_EVERY = Duration.ofSeconds(1);
    private static final Duration FOR_THE_DRIVER = Duration.ofSeconds(3);
    private static final Duration FOR_THE_KUBELET = Duration.ofSeconds(3);
    private static final Duration LONGEST_ROUND = Duration.ofMinutes(2);
    private static final Duration ASK_AGAIN = Duration.ofSeconds(2);

    private final ApiServer api;
    private final UnixSockets sockets = new UnixSockets();
    private final PodResources podResources;
    private final GpuMonitor gpus;
    private final Grants grants;
    private final RefusedPods refused;
    private final PodWatch pods;
    private final @Nullable CooperativeMps cooperative;
    private final NodeGpus usable;
    private final Provider provider;
    private final Registration registration;
    private final GpuNodePublisher published;
    private final PodEvents events;
    private final PodNotices notices;
    private final SharedConfigMap shared;
    private final NodeLabels labels;
    private final IsolationReport isolation;
    private final AccessReport accessLoss;
    private final ProbeServer probes;
    private final NumaNodes numaNodes = NumaNodes.ofThisComputer();

    private final Heartbeat heartbeat =
            new Heartbeat("what tidies up", LONGEST_ROUND, Heartbeat.TICKS);

    /** Those that MPS makes unhealthy, as the kubelet knows them. */
    private List<NodeGpu> seen = List.of();

    /** That a pod has changed, of which it does not matter how often. */
    private final BlockingQueue<Boolean> podsChanged = new ArrayBlockingQueue<>(1);

    /** All settings come from the environment. */
    public static void main(String[] args) throws IOException, InterruptedException {
        try {
            Map<String, String> environment = System.getenv();
            Settings settings = Settings.from(environment);
            ApiServer api = ApiServer.inCluster(environment, settings.serviceAccount());
            log.atInfo()
                    .addKeyValue("node", settings.node())
                    .addKeyValue("aotCache", AotCache.ofThisProcess())
                    .log("device plugin starts");
            NodeView node = node(api, settings);
            var plugin = new DevicePlugin(settings, settings.dialect(node.labels()), api, node);
            Runtime.getRuntime().addShutdownHook(Thread.ofPlatform().unstarted(plugin::close));
            Watchdog.start(plugin::dead);
            plugin.run();
        } catch (BadSettings | IllegalStateException e) {
            log.atError().addKeyValue("problem", e.getMessage()).log("cannot start");
            System.exit(BAD_SETTINGS);
        }
    }

    /** The node. Without the API server nothing could start anyway, so it is waited for. */
    private static NodeView node(ApiServer api, Settings settings) throws InterruptedException {
        boolean told = false;
        while (true) {
            try {
                return NodeView.read(api, settings.node());
            } catch (IOException e) {
                if (!told) {
                    log.atWarn().addKeyValue("reason", e.getMessage()).log("waiting for the node");
                    told = true;
                }
                Thread.sleep(ASK_AGAIN);
            }
        }
    }

    private DevicePlugin(Settings settings, Dialect dialect, ApiServer api, NodeView node)
            throws IOException {
        this.api = api;
        Path plugins = settings.kubelet().resolve("device-plugins");
        var table = new CheckpointFile(plugins.resolve("kubelet_internal_checkpoint"));
        Files.createDirectories(settings.state());
        podResources =
                new PodResources(sockets, settings.kubelet().resolve("pod-resources/kubelet.sock"));
        gpus =
                new GpuMonitor(
                        () -> NvmlLibrary.open(settings.nvmlLibrary()),
                        settings.state().resolve("gpus.json"),
                        GpuMonitor.BOOT_ID,
                        this::gpusChanged,
                        DeviceAccess.ofThisContainer(),
                        TimeSource.SYSTEM);
        events = new PodEvents(api, settings.node());
        notices = new PodNotices(events::tell);
        grants =
                new Grants(
                        new GrantFile(settings.state().resolve("grants.json")),
                        notices::granted,
                        this::grantsChanged);
        refused =
                new RefusedPods(
                        settings.state().resolve("refused.json"),
                        InstantSource.system(),
                        this::publish);
        pods =
                new PodWatch(
                        api, settings.node(), settings.resources(), () -> podsChanged.offer(true));
        var cdi = new CdiFolder(settings.cdi().getLast(), settings.shares());
        // Which of them are in use is not known any more; who needs one asks again.
        cdi.closeAll();
        var driver = new DriverFolders(settings.cdi());
        accessLoss =
                new AccessReport(
                        gpus::isAccessLost,
                        driver::edits,
                        grants::all,
                        events::tellNode,
                        notices::accessLost);
        var processes = new PodProcesses(settings.proc());
        cooperative =
                settings.mps() && "enabled".equals(node.labels().get(Names.MPS_LABEL))
                        ? mps(settings, processes)
                        : null;
        usable =
                cooperative == null
                        ? new GpusLeftByMps(settings.shares().resolve(GpuFolder.NAME), gpus)
                        : cooperative;
        provider =
                new Provider(
                        dialect,
                        new Provider.Kubelet(table::read, podResources::list),
                        new Provider.Disk(
                                cdi,
                                driver,
                                interceptor(settings),
                                Mgctl.of(settings.state()),
                                processes,
                                numaNodes::of),
                        pods,
                        usable,
                        grants,
                        refused,
                        cooperative == null ? Mps.NONE : cooperative,
                        Pacing.REAL);
        var others = new OtherProviders(table, dialect, gpus, api, settings.node());
        var metrics = new PluginMetrics(usable, grants);
        if (cooperative != null) {
            metrics.mps(cooperative);
        }
        registration =
                new Registration(
                        plugins,
                        sockets,
                        provider.resources().stream().map(metrics::counted).toList(),
                        others::refusal);
        shared = new SharedConfigMap(api, namespace(settings));
        published = new GpuNodePublisher(api, settings.node(), shared::write);
        labels = new NodeLabels(api, settings.node());
        var runtime =
                new ContainerRuntime(
                        node.containerRuntime(),
                        settings.host(),
                        settings.containerd(),
                        settings.nvidiaRuntime());
        isolation = new IsolationReport(runtime::exposure, labels::isolation, events::tellNode);
        metrics.isolation(isolation::open);
        metrics.disagreements(provider::disagreements);
        probes = new ProbeServer(settings.port(), this::dead, this::unready, metrics::text);
    }

    private static Optional<Interceptor> interceptor(Settings settings) throws IOException {
        return settings.interceptor().isEmpty()
                ? Optional.empty()
                : Optional.of(
                        Interceptor.of(
                                Path.of(settings.interceptor()),
                                settings.shares(),
                                settings.interceptorEnvironment()));
    }

    private CooperativeMps mps(Settings settings, PodProcesses processes) throws IOException {
        Path folders = Files.createDirectories(settings.shares().resolve(GpuFolder.NAME));
        return new CooperativeMps(
                folders,
                new CooperativeMps.Rules(settings.mpsAcross(), settings.mpsClients()),
                new CooperativeMps.Node(pods, gpus, grants, processes::of),
                MpsProgram.find(settings.mpsProgram()),
                notices::rounded,
                Thread::startVirtualThread,
                InstantSource.system());
    }

    /** Where this pod runs. */
    private static String namespace(Settings settings) throws IOException {
        return Files.readString(settings.serviceAccount().resolve("namespace")).strip();
    }

    /** Hands out GPUs until the thread is interrupted. */
    void run() throws InterruptedException, IOException {
        gpus.start();
        pods.start();
        awaitGpus();
        registration.start();
        publish();
        heartbeat.beat();
        // Reading the runtime's configuration is not to delay the registration.
        long until = System.nanoTime() + FOR_THE_KUBELET.toNanos();
        boolean offering = true;
        while (true) {
            podsChanged.poll(TIDY_EVERY.toMillis(), TimeUnit.MILLISECONDS);
            tidyUp();
            heartbeat.beat();
            if (offering != registration.refused().isEmpty()) {
                offering = !offering;
                publish();
            }
            if (registration.isRegistered() || System.nanoTime() - until > 0) {
                lookAtRuntime();
            }
        }
    }

    private void lookAtRuntime() {
        try {
            isolation.look();
        } catch (RuntimeException e) {
            log.atError().setCause(e).log("cannot look at the container runtime");
        }
    }

    private void tidyUp() {
        attempt(provider::tidyUp);
        CooperativeMps mps = cooperative;
        if (mps != null) {
            attempt(mps::look);
        }
        attempt(this::lookAtGpus);
        attempt(accessLoss::look);
        attempt(() -> provider.compare(registration.refused().isEmpty()));
        notices.disagreeing(provider.disagreements());
    }

    private interface Step {
        void run() throws IOException;
    }

    /** One that fails keeps no other from its turn; clients of MPS have to be ended in time. */
    private static void attempt(Step step) {
        try {
            step.run();
        } catch (IOException e) {
            log.atError().addKeyValue("reason", e.getMessage()).log("cannot tidy up");
        } catch (RuntimeException e) {
            // Whoever tidies up no more hands out nothing for long.
            log.atError().setCause(e).log("cannot tidy up");
        }
    }

    private void lookAtGpus() {
        // What the monitor sees it says itself.
        var byMps = new ArrayList<>(usable.all());
        byMps.removeAll(gpus.all());
        if (!byMps.equals(seen)) {
            seen = List.copyOf(byMps);
            gpusChanged();
        }
    }

    /**
     * Without GPUs that are listed all would be unhealthy for a moment. A driver that takes longer
     * is not waited for: while no resource is registered, pods that ask for it start without GPUs.
     */
    private void awaitGpus() throws InterruptedException {
        long until = System.nanoTime() + FOR_THE_DRIVER.toNanos();
        while (!gpus.isRead() && System.nanoTime() < until) {
            Thread.sleep(10);
        }
    }

    private void gpusChanged() {
        registration.changed();
        notices.gpusChanged(all(), grants.all());
        publish();
    }

    private void grantsChanged() {
        if (provider.doGrantsMoveUnits()) {
            registration.changed();
        }
        publish();
    }

    private void publish() {
        published.publish(() ->
                GpuNodeStatus.of(
                        cooperative == null ? GpuNodeStatus.TIME_SLICE : GpuNodeStatus.COOPERATIVE,
                        offered(),
                        all(),
                        grants.all(),
                        refused.all(),
                        numaNodes::of));
    }

    private List<NodeGpu> all() {
        return usable.all();
    }

    /** Nothing while another provider offers the same, so that no pod is placed here by us. */
    private List<String> offered() {
        return registration.refused().isPresent()
                ? List.of()
                : provider.resources().stream().map(DeviceResource::name).toList();
    }

    private Optional<String> dead() {
        if (gpus.wantsRestart()) {
            return Optional.of("the driver was replaced, and this process holds the old library");
        }
        return gpus.isAccessLost() ? Optional.of(DeviceAccess.LOST) : heartbeat.dead();
    }

    private Optional<String> unready() {
        if (!registration.isRegistered()) {
            return registration.refused().or(() -> Optional.of("no kubelet knows our resources"));
        }
        return pods.isListed()
                ? Optional.ofNullable(gpus.trouble())
                : Optional.of("the pods of this node are not known");
    }

    @Override
    public void close() {
        probes.close();
        registration.close();
        pods.close();
        published.close();
        shared.close();
        labels.close();
        events.close();
        gpus.close();
        podResources.close();
        sockets.close();
        api.close();
    }
}
