package io.gpusharing.deviceplugin.mps.daemon;

import static java.util.stream.Collectors.joining;

import io.gpusharing.deviceplugin.mps.Answer;
import io.gpusharing.deviceplugin.mps.Answer.Failure;
import io.gpusharing.deviceplugin.mps.Answer.Told;
import io.gpusharing.deviceplugin.mps.DaemonOrder;
import io.gpusharing.deviceplugin.mps.DaemonState;
import io.gpusharing.deviceplugin.mps.DaemonState.Phase;
import io.gpusharing.deviceplugin.mps.GpuFolder;
import io.gpusharing.deviceplugin.mps.MpsControl;
import io.gpusharing.deviceplugin.mps.MpsProgram;
import io.gpusharing.deviceplugin.mps.ProcessEnds;
import io.gpusharing.nvml.ComputeMode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The MPS daemon of one GPU: there while it is wanted, started again when it ends, ready once a
 * client got something done. For one thread.
 */
final class GpuDaemon {

    private static final Logger log = LoggerFactory.getLogger(GpuDaemon.class);

    private static final Duration FOR_THE_SOCKET = Duration.ofSeconds(10);
    private static final Duration FOR_CLIENTS = Duration.ofSeconds(1);
    private static final Duration TO_END = Duration.ofSeconds(5);

    private static final long LOG_BYTES = 256 * 1024;

    private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
    private static final Duration LONGEST_PAUSE = Duration.ofMinutes(1);

    /** How long until a check is tried again that could not be made. */
    private static final Duration BETWEEN_CHECKS = Duration.ofSeconds(5);

    /** After so long without a failure the next pause is a short one again. */
    private static final Duration STEADY = Duration.ofMinutes(5);

    private final GpuFolder folder;
    private final MpsProgram program;
    private final MpsControl control;
    private final Canary canary;
    private final Gpus gpus;
    private final Failures failures;
    private final InstantSource clock;

    /** Those of the daemon: a server outlives a daemon that is killed, and holds the GPU. */
    private final Set<ProcessHandle> servers = new HashSet<>();

    private @Nullable Process process;
    private DaemonState state = DaemonState.NONE;
    private Duration pause = FIRST_PAUSE;
    private Instant notBefore = Instant.MIN;
    private Instant startedAt = Instant.MIN;

    /**
     * What is asked and told of GPUs.
     *
     * @param modes sets who may use one
     * @param devices answers what is asked of one
     * @param mostClients that the driver lets use one
     */
    record Gpus(ComputeModes modes, Devices devices, int mostClients) {}

    /** Answers what a GPU can do, and who is on it. */
    interface Devices {

        /** Its compute capability, {@code 9.0} for instance. */
        String computeCapability(String gpu) throws IOException;

        /** Numbers of the processes that have memory of it. */
        SortedSet<Long> processes(String gpu) throws IOException;
    }

    /** Counts daemons that ended or did not work. */
    interface Failures {
        void failed(String gpu);
    }

    GpuDaemon(
            GpuFolder folder,
            MpsProgram program,
            MpsControl control,
            Canary canary,
            Gpus gpus,
            Failures failures,
            InstantSource clock) {
        this.folder = folder;
        this.program = program;
        this.control = control;
        this.canary = canary;
        this.gpus = gpus;
        this.failures = failures;
        this.clock = clock;
    }

    /** Does what is due. Called several times a second. */
    void step() throws IOException {
        DaemonOrder order = DaemonOrder.read(folder);
        if (!order.shared()) {
            stopped("", order.change());
            return;
        }
        Process running = process;
        if (running != null && !running.isAlive()) {
            process = null;
            failed(order, "the daemon ended with " + running.exitValue());
        } else if (running != null && isUnchecked(order) && isDue()) {
            check(order);
        } else if (running == null && isDue()) {
            start(order);
        }
    }

    private boolean isUnchecked(DaemonOrder order) {
        return state.phase() != Phase.Ready
                || order.change() != state.change()
                || order.check() != state.check();
    }

    private boolean isDue() {
        return !clock.instant().isBefore(notBefore);
    }

    /** There is to be none from now on, whatever is ordered. */
    void stopped(String reason) throws IOException {
        stopped(reason, state.change());
    }

    private void stopped(String reason, int change) throws IOException {
        boolean isRunning = process != null;
        end();
        if (isRunning || state.phase() != Phase.Stopped) {
            gpus.modes().set(folder.gpu(), ComputeMode.DEFAULT);
        }
        if (isRunning) {
            log.atInfo().addKeyValue("gpu", folder.gpu()).log("MPS daemon ended");
        }
        tell(
                new DaemonState(
                        Phase.Stopped, change, state.check(), state.computeCapability(), reason));
    }

    /**
     * After a start of this program: what it ran before has ended with it, so nothing of what
     * stands in the file holds. A GPU that was shared stays exclusive until its daemon runs.
     */
    void begin() throws IOException {
        DaemonState before = DaemonState.read(folder);
        if (before.phase() != Phase.Stopped) {
            tell(
                    new DaemonState(
                            Phase.Starting,
                            before.change(),
                            before.check(),
                            before.computeCapability(),
                            doubt(before)));
        }
    }

    /** Why the daemon did not work. It holds until a client has got something done. */
    private static String doubt(DaemonState before) {
        return switch (before.phase()) {
            case Failed, Starting -> before.reason();
            case Ready, Stopped -> "";
        };
    }

    private void start(DaemonOrder order) throws IOException {
        tell(state(Phase.Starting, order, doubt(state)));
        startedAt = clock.instant();
        try {
            // A client that passes MPS by must fail, and not run free beside the others.
            gpus.modes().set(folder.gpu(), ComputeMode.EXCLUSIVE_PROCESS);
            process = spawn();
            awaitSocket();
            offer();
        } catch (IOException e) {
            failed(order, e.getMessage() == null ? e.toString() : e.getMessage());
            return;
        }
        check(order);
    }

    private Process spawn() throws IOException {
        endServers();
        empty(folder.pipe());
        open(folder.pipe());
        open(folder.log());
        ProcessBuilder builder = program.process(folder, "-f", "-multiuser-server");
        builder.environment().put("CUDA_VISIBLE_DEVICES", folder.gpu());
        builder.environment().put("CUDA_MPS_LOG_DIRECTORY", folder.log().toString());
        Process started = builder.start();
        new DaemonLog(folder.log().resolve("daemon.log"), LOG_BYTES)
                .follow(started.getInputStream());
        return started;
    }

    /** Clients are of any user: they must get at the socket. */
    private static void open(Path directory) throws IOException {
        Files.createDirectories(directory);
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private static void empty(Path directory) throws IOException {
        if (Files.isDirectory(directory)) {
            try (Stream<Path> files = Files.list(directory)) {
                for (Path file : files.toList()) {
                    if (Files.isDirectory(file)) {
                        empty(file);
                    }
                    Files.deleteIfExists(file);
                }
            }
        }
    }

    private void awaitSocket() throws IOException {
        long until = System.nanoTime() + FOR_THE_SOCKET.toNanos();
        Process started = process;
        while (!Files.exists(folder.control())) {
            if (started == null || !started.isAlive()) {
                throw new IOException("the daemon ended before it had opened its socket");
            }
            if (System.nanoTime() > until) {
                throw new IOException(
                        "the daemon has opened no socket in %d s"
                                .formatted(FOR_THE_SOCKET.toSeconds()));
            }
            try {
                Thread.sleep(20);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IOException("this program is ending", e);
            }
        }
    }

    /** Containers that run have the folder, and in it from now on the socket of this daemon. */
    private void offer() throws IOException {
        open(folder.client());
        Path next = folder.path().resolve("control.next");
        Files.deleteIfExists(next);
        Files.createLink(next, folder.control());
        Files.move(next, folder.offered(), StandardCopyOption.ATOMIC_MOVE);
    }

    /** A client tries; what is wrong is believed at the second time. */
    private void check(DaemonOrder order) throws IOException {
        Canary.Result result = tried();
        if (result instanceof Canary.Result.Failed) {
            result = tried();
        }
        switch (result) {
            case Canary.Result.Worked _ -> confirm(order);
            case Canary.Result.Failed(String reason) -> failed(order, reason);
            case Canary.Result.Unavailable(String reason) -> failed(order, reason);
            case Canary.Result.Unknown(String reason) -> unknown(reason);
        }
    }

    /** Had the daemon been gone, the client would have worked beside MPS. */
    private void confirm(DaemonOrder order) throws IOException {
        switch (asked()) {
            case Told<List<Long>>(var numbers) when !numbers.isEmpty() -> {
                servers.removeIf(ProcessEnds::hasEnded);
                numbers.forEach(number -> ProcessHandle.of(number).ifPresent(servers::add));
                ready(order);
            }
            case Told<List<Long>> none -> failed(order, "a client worked, but not by MPS");
            case Answer.Failed<List<Long>>(var failure, String sentence)
                    when failure == Failure.NoDaemon || state.phase() != Phase.Ready ->
                    failed(order, sentence);
            case Answer.Failed<List<Long>>(var failure, String sentence) -> unknown(sentence);
        }
    }

    private Answer<List<Long>> asked() {
        Answer<List<Long>> servers = control.servers();
        return servers instanceof Answer.Failed ? control.servers() : servers;
    }

    /**
     * Nobody knows whether it works, by no fault of its own. It is not ended, since whoever is its
     * client may work; nobody joins, and it is tried again.
     */
    private void unknown(String reason) throws IOException {
        notBefore = clock.instant().plus(BETWEEN_CHECKS);
        if (!reason.equals(state.reason())) {
            log.atWarn()
                    .addKeyValue("gpu", folder.gpu())
                    .addKeyValue("reason", reason)
                    .log("cannot check whether MPS works");
        }
        // The check is still wanted: its number stays the last one's.
        tell(
                new DaemonState(
                        state.phase(),
                        state.change(),
                        state.check(),
                        state.computeCapability(),
                        reason));
    }

    private Canary.Result tried() {
        Canary.Result result = canary.run(folder);
        if (!(result instanceof Canary.Result.Unavailable(String reason))) {
            return result;
        }
        return switch (control.clients()) {
            case Told<List<Long>>(var clients) ->
                    clients.size() >= gpus.mostClients()
                            ? new Canary.Result.Worked()
                            : new Canary.Result.Failed(reason);
            case Answer.Failed<List<Long>>(var failure, String sentence) ->
                    new Canary.Result.Unknown(reason + "; " + sentence);
        };
    }

    private void ready(DaemonOrder order) throws IOException {
        if (startedAt.plus(STEADY).isBefore(clock.instant())) {
            pause = FIRST_PAUSE;
        }
        String capability = state.computeCapability();
        if (capability.isEmpty()) {
            try {
                capability = gpus.devices().computeCapability(folder.gpu());
            } catch (IOException e) {
                log.atWarn()
                        .addKeyValue("gpu", folder.gpu())
                        .addKeyValue("reason", e.getMessage())
                        .log("compute capability is not known, the strictest limits hold");
            }
        }
        if (state.phase() != Phase.Ready) {
            log.atInfo().addKeyValue("gpu", folder.gpu()).log("MPS daemon is ready");
        }
        notBefore = Instant.MIN;
        tell(new DaemonState(Phase.Ready, order.change(), order.check(), capability, ""));
    }

    /** It does not work: none runs until the pause is over. */
    private void failed(DaemonOrder order, String reason) throws IOException {
        failures.failed(folder.gpu());
        end();
        if (startedAt.plus(STEADY).isBefore(clock.instant())) {
            pause = FIRST_PAUSE;
        }
        notBefore = clock.instant().plus(pause);
        String whole = reason + holders();
        log.atError()
                .addKeyValue("gpu", folder.gpu())
                .addKeyValue("reason", whole)
                .addKeyValue("again", pause)
                .log("MPS daemon does not work");
        Duration doubled = pause.multipliedBy(2);
        pause = doubled.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : doubled;
        tell(state(Phase.Failed, order, whole));
    }

    /** Who is on the GPU though its daemon has ended may be what keeps the next one from it. */
    private String holders() {
        try {
            SortedSet<Long> processes = gpus.devices().processes(folder.gpu());
            return processes.isEmpty()
                    ? ""
                    : ". Still on the GPU are the processes "
                            + processes.stream().map(String::valueOf).collect(joining(", "));
        } catch (IOException e) {
            return ". Who is still on the GPU is not known: " + e.getMessage();
        }
    }

    /** Ends the daemon and every server of it, whatever state they are in. */
    private void end() {
        Process running = process;
        process = null;
        if (running != null) {
            running.descendants().forEach(servers::add);
            control.quit(FOR_CLIENTS);
            ProcessEnds.await(Set.of(running.toHandle()), TO_END);
            servers.add(running.toHandle());
        }
        endServers();
    }

    private void endServers() {
        servers.forEach(ProcessHandle::destroyForcibly);
        // What the driver does not let go keeps the GPU, and the next check says so.
        ProcessEnds.await(servers, TO_END);
        servers.removeIf(ProcessEnds::hasEnded);
    }

    private DaemonState state(Phase phase, DaemonOrder order, String reason) {
        return new DaemonState(
                phase, order.change(), order.check(), state.computeCapability(), reason);
    }

    private void tell(DaemonState now) throws IOException {
        if (!now.equals(state) || !DaemonState.read(folder).equals(now)) {
            now.write(folder);
        }
        state = now;
    }
}
