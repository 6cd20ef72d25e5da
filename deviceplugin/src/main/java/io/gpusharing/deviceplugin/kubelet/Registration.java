package io.gpusharing.deviceplugin.kubelet;

import io.gpusharing.deviceplugin.disk.FileVersion;
import io.gpusharing.deviceplugin.kubelet.api.RegisterRequest;
import io.gpusharing.deviceplugin.kubelet.api.RegistrationGrpc;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the node's kubelet acquainted with our resources: serves first, registers after, and does
 * both again whenever a kubelet has made a new {@code kubelet.sock} or has stopped watching.
 *
 * <p>A kubelet that starts deletes all sockets of the folder, makes its own, and admits the pods
 * that ran before it 0.8 s later: those whose devices nobody has registered by then fail, unless
 * their containers still run. And when an older instance of this plugin ends, the kubelet
 * disconnects whoever has registered last.
 */
public final class Registration implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Registration.class);

    private static final String API_VERSION = "v1beta1";
    private static final String KUBELET = "kubelet.sock";

    private static final Duration ANSWER = Duration.ofSeconds(10);

    /** The socket's file is there a moment before somebody listens to it. */
    private static final Duration FIRST_RETRY = Duration.ofMillis(5);

    private static final Duration LAST_RETRY = Duration.ofSeconds(1);

    private final Path folder;
    private final UnixSockets sockets;
    private final List<Served> all;
    private final Refusal refusal;
    private volatile @Nullable String refused;
    private @Nullable FolderWatch files;

    /** That something has happened, of which it does not matter how often. */
    private final BlockingQueue<Boolean> happened = new ArrayBlockingQueue<>(1);

    private Optional<FileVersion> registeredWith = Optional.empty();
    private volatile boolean watched;
    private volatile boolean closed;

    /** Why our resources must not be registered now. */
    public interface Refusal {

        /**
         * In words; empty if they may be.
         *
         * @throws IOException if that cannot be found out; then it is tried again
         */
        Optional<String> ask() throws IOException;
    }

    /** A resource and where it is served; {@code server} is null before the first time. */
    private static final class Served {
        private final DevicePluginService service;
        private final String name;
        private final Path socket;
        private @Nullable Server server;

        private Served(DevicePluginService service, String name, Path socket) {
            this.service = service;
            this.name = name;
            this.socket = socket;
        }
    }

    /**
     * @param folder the kubelet's folder of device plugins
     * @param resources the first is registered last: while it is missing, no pod that asks for it
     *     is admitted
     * @param refusal asked before each registration, and when something has changed in the folder
     */
    public Registration(
            Path folder, UnixSockets sockets, List<DeviceResource> resources, Refusal refusal) {
        this.folder = folder;
        this.sockets = sockets;
        this.refusal = refusal;
        this.all =
                resources.reversed().stream()
                        .map(resource ->
                                new Served(
                                        new DevicePluginService(resource, this::disconnected),
                                        resource.name(),
                                        folder.resolve(
                                                "gpusharing-%s.sock"
                                                        .formatted(
                                                                resource.name()
                                                                        .replace('/', '-')))))
                        .toList();
    }

    /** Starts; returns at once. */
    public void start() throws IOException {
        files = new FolderWatch(folder, () -> happened.offer(true));
        Thread.ofVirtual().name("registration").start(this::keepRegistered);
    }

    /** Whether a kubelet knows our resources, as far as we know. */
    public boolean isRegistered() {
        return watched;
    }

    /** Why our resources are not registered, in words; empty if nobody forbids it. */
    public Optional<String> refused() {
        return Optional.ofNullable(refused);
    }

    /** Tells the kubelet that units have changed. */
    public void changed() {
        all.forEach(served -> served.service.changed());
    }

    private void disconnected() {
        if (!closed && watched) {
            watched = false;
            happened.offer(true);
        }
    }

    private void keepRegistered() {
        Duration retry = FIRST_RETRY;
        boolean told = false;
        while (!closed) {
            try {
                if (isUpToDate()) {
                    retry = FIRST_RETRY;
                    told = false;
                    happened.take();
                    if (isUpToDate() && !closed && !mayRegister()) {
                        withdraw();
                    }
                } else if (!Files.exists(folder.resolve(KUBELET))) {
                    happened.take();
                } else if (mayRegister()) {
                    serveAndRegister();
                } else {
                    happened.poll(LAST_RETRY.toMillis(), TimeUnit.MILLISECONDS);
                }
            } catch (IOException | RuntimeException e) {
                if (!told && retry.equals(LAST_RETRY)) {
                    told = true;
                    log.atWarn()
                            .addKeyValue("folder", folder)
                            .addKeyValue("reason", e.toString())
                            .log("cannot register with the kubelet, trying on");
                }
                retry = pause(retry);
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    /** The kubelet is told by the end of its connections that there is nothing any more. */
    private void withdraw() throws IOException {
        watched = false;
        registeredWith = Optional.empty();
        for (Served served : all) {
            if (served.server != null) {
                served.server.shutdownNow();
                served.server = null;
            }
            Files.deleteIfExists(served.socket);
        }
    }

    private boolean mayRegister() throws IOException {
        String before = refused;
        refused = refusal.ask().orElse(null);
        if (refused != null && !refused.equals(before)) {
            log.atError().addKeyValue("reason", refused).log("offering no GPU");
        }
        return refused == null;
    }

    private Duration pause(Duration retry) {
        try {
            happened.poll(retry.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            closed = true;
        }
        Duration next = retry.multipliedBy(2);
        return next.compareTo(LAST_RETRY) > 0 ? LAST_RETRY : next;
    }

    private boolean isUpToDate() {
        return watched
                && all.stream().allMatch(served -> Files.exists(served.socket))
                && registeredWith.isPresent()
                && registeredWith.equals(kubelet());
    }

    /** Which file the kubelet's socket is. */
    private Optional<FileVersion> kubelet() {
        return FileVersion.of(folder.resolve(KUBELET));
    }

    private void serveAndRegister() throws IOException {
        Optional<FileVersion> kubelet = kubelet();
        ManagedChannel channel = sockets.connect(folder.resolve(KUBELET));
        try {
            for (Served served : all) {
                if (served.server == null || !Files.exists(served.socket)) {
                    if (served.server != null) {
                        served.server.shutdownNow();
                    }
                    served.server = sockets.serve(served.socket, served.service);
                }
            }
            // Whoever disconnects from now on disconnects from what is registered here.
            watched = true;
            for (Served served : all) {
                RegistrationGrpc.newBlockingStub(channel)
                        .withDeadlineAfter(ANSWER.toMillis(), TimeUnit.MILLISECONDS)
                        .register(
                                RegisterRequest.newBuilder()
                                        .setVersion(API_VERSION)
                                        .setEndpoint(served.socket.getFileName().toString())
                                        .setResourceName(served.name)
                                        .setOptions(served.service.options())
                                        .build());
            }
            registeredWith = kubelet;
            log.atInfo()
                    .addKeyValue("resources", all.stream().map(it -> it.name).toList())
                    .log("registered with the kubelet");
        } catch (StatusRuntimeException e) {
            watched = false;
            throw e;
        } finally {
            channel.shutdownNow();
        }
    }

    @Override
    public void close() {
        closed = true;
        happened.offer(true);
        if (files != null) {
            files.close();
        }
        for (Served served : all) {
            if (served.server != null) {
                served.server.shutdownNow();
            }
            try {
                Files.deleteIfExists(served.socket);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
