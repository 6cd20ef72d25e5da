package io.gpusharing.deviceplugin.mps.daemon;

import io.gpusharing.deviceplugin.mps.GpuFolder;
import io.gpusharing.deviceplugin.mps.MpsControl;
import io.gpusharing.deviceplugin.mps.MpsProgram;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All daemons of a node; each has a thread of its own, so that one that hangs holds up no other.
 */
public final class DaemonSupervisor implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(DaemonSupervisor.class);

    private static final Duration BETWEEN_STEPS = Duration.ofMillis(200);

    /** For all GPUs at once; the pod has 30 seconds of grace. */
    private static final Duration TO_CLOSE = Duration.ofSeconds(25);

    private final Path root;
    private final MpsProgram program;
    private final Canary canary;
    private final GpuDaemon.Gpus gpus;
    private final Map<String, Thread> threads = new ConcurrentHashMap<>();
    private final Map<String, Long> failures = new ConcurrentHashMap<>();

    /** Since when it is being closed, in {@link System#nanoTime}. */
    private volatile long closing;

    /**
     * @param root the folder of all GPUs' folders
     * @param program NVIDIA's control program
     * @param mostOfCheck how long a client may take to get something done
     * @param modes sets who may use a GPU
     * @param devices answers what a GPU can do
     * @param mostClients that the driver lets use a GPU
     */
    public DaemonSupervisor(
            Path root,
            MpsProgram program,
            Duration mostOfCheck,
            ComputeModes modes,
            NvmlDevices devices,
            int mostClients) {
        this(
                root,
                program,
                Canary.ofThisProgram(program, mostOfCheck),
                new GpuDaemon.Gpus(modes, devices, mostClients));
    }

    DaemonSupervisor(Path root, MpsProgram program, Canary canary, GpuDaemon.Gpus gpus) {
        this.root = root;
        this.program = program;
        this.canary = canary;
        this.gpus = gpus;
    }

    /** Starts what is wanted and is not looked after yet. Called every second. */
    public void look() throws IOException {
        for (GpuFolder each : GpuFolder.all(root)) {
            GpuFolder folder = GpuFolder.of(root, each.gpu());
            threads.computeIfAbsent(
                    folder.gpu(),
                    gpu -> Thread.ofVirtual().name("mps-" + gpu).start(() -> run(folder)));
        }
    }

    private void run(GpuFolder folder) {
        var daemon =
                new GpuDaemon(
                        folder,
                        program,
                        new MpsControl(program, folder, MpsControl.USUAL, failure -> {}),
                        canary,
                        gpus,
                        gpu -> failures.merge(gpu, 1L, Long::sum),
                        InstantSource.system());
        OneAtATime problems = new OneAtATime(folder.gpu());
        problems.attempt(daemon::begin);
        while (!Thread.currentThread().isInterrupted()) {
            problems.attempt(daemon::step);
            try {
                Thread.sleep(BETWEEN_STEPS);
            } catch (InterruptedException e) {
                break;
            }
        }
        // What ends a daemon waits for processes, so it must not be interrupted again.
        boolean _ = Thread.interrupted();
        // The driver keeps the compute mode; without a daemon nobody could use the GPU.
        while (!problems.attempt(
                        () -> daemon.stopped("the program that runs MPS daemons has ended"))
                && System.nanoTime() - closing < TO_CLOSE.toNanos()) {
            LockSupport.parkNanos(BETWEEN_STEPS.toNanos());
        }
    }

    /** Says a problem once, and not five times a second. */
    private static final class OneAtATime {

        private interface Step {
            void run() throws IOException;
        }

        private final String gpu;
        private String told = "";

        OneAtATime(String gpu) {
            this.gpu = gpu;
        }

        /** Whether it went well. */
        boolean attempt(Step step) {
            String problem = "";
            try {
                step.run();
            } catch (IOException | RuntimeException e) {
                problem = e.toString();
            }
            if (!problem.isEmpty() && !problem.equals(told)) {
                log.atError()
                        .addKeyValue("gpu", gpu)
                        .addKeyValue("reason", problem)
                        .log("cannot look after the MPS daemon");
            }
            told = problem;
            return problem.isEmpty();
        }
    }

    /** How often the daemon of each GPU ended or did not work. */
    public Map<String, Long> failures() {
        return Map.copyOf(failures);
    }

    /** Ends all daemons and gives their GPUs back to everybody. */
    @Override
    public void close() {
        closing = System.nanoTime();
        threads.values().forEach(Thread::interrupt);
        try {
            for (Thread thread : threads.values()) {
                long left = TO_CLOSE.toNanos() - (System.nanoTime() - closing);
                thread.join(Duration.ofNanos(Math.max(1, left)));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
