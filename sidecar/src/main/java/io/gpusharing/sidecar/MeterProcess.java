package io.gpusharing.sidecar;

import io.gpusharing.nvml.DeviceAccess;
import io.gpusharing.nvml.NvmlLibrary;
import io.gpusharing.nvml.TimeSource;
import io.gpusharing.sidecar.attribution.NodeFiles;
import io.gpusharing.sidecar.attribution.ProcFs;
import io.gpusharing.sidecar.attribution.Viewpoint;
import io.gpusharing.sidecar.meter.GpuEvents;
import io.gpusharing.sidecar.meter.Meter;
import io.gpusharing.sidecar.metrics.AgentMetrics;
import io.gpusharing.sidecar.metrics.MetricsServer;
import io.gpusharing.sidecar.report.Answer;
import io.gpusharing.sidecar.report.ReportSchedule;
import io.gpusharing.sidecar.report.Reporter;
import io.gpusharing.sidecar.report.StateFile;
import io.gpusharing.sidecar.report.Timekeeper;
import io.gpusharing.sidecar.usage.Snapshot;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A running meter: one thread for NVML, one for reports, and the watch of the second over the
 * first. A call that hangs in the driver stops neither reports nor the end of the process.
 */
final class MeterProcess {

    /** Asks kubelet for a new container: the driver's files changed under this one. */
    static final int LEFT_FOR_NEW_CONTAINER = 75;

    private static final long TICK_MICROS = 1_000_000;
    private static final long FIRST_REPORT_MICROS = 300_000;
    private static final long SAVE_EVERY_MICROS = 5_000_000;
    private static final Duration LAST_TICK = Duration.ofMillis(50);
    private static final Duration LAST_REPORT = Duration.ofMillis(100);

    private final Settings settings;
    private final Supplier<NvmlLibrary> source;
    private final EventLog log;
    private final TimeSource time;
    private final Meter meter;
    private final Reporter reporter;
    private final Thread nvmlThread;
    private final CountDownLatch lastTickDone = new CountDownLatch(1);
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final long startedMicros;
    private final Watchdog watchdog;
    private volatile boolean stopping;
    private volatile long tickStartedMicros;
    private volatile @Nullable String broken;
    private volatile int exitCode;

    MeterProcess(
            Settings settings,
            String kind,
            Supplier<NvmlLibrary> source,
            Viewpoint view,
            ProcFs proc,
            TimeSource time,
            EventLog log)
            throws GeneralSecurityException {
        this.settings = settings;
        this.source = source;
        this.log = log;
        this.time = time;
        this.startedMicros = time.monotonicMicros();
        this.tickStartedMicros = startedMicros;
        this.watchdog = new Watchdog(startedMicros, DeviceAccess.ofThisContainer());
        StateFile stateFile = new StateFile(settings.stateDirectory());
        String bootId = proc.bootId();
        StateFile.State state = earlier(stateFile, bootId);
        Snapshot snapshot = state == null ? null : state.snapshot();
        LoggedEvents events = new LoggedEvents(log);
        this.meter = new Meter(source, view, time, bootId, snapshot, events);
        this.reporter =
                new Reporter(
                        kind,
                        state == null ? UUID.randomUUID().toString() : state.run(),
                        state == null ? 0 : state.sequence(),
                        meter,
                        timekeeper(stateFile),
                        stateFile,
                        events);
        this.nvmlThread = Thread.ofPlatform().name("nvml").daemon().unstarted(this::tickForever);
    }

    private StateFile.@Nullable State earlier(StateFile file, String bootId) {
        return switch (file.load()) {
            case StateFile.Loaded.None none -> null;
            case StateFile.Loaded.Unusable(String reason) -> {
                log.event("state unusable, a new run begins", "reason", reason);
                yield null;
            }
            case StateFile.Loaded.Found(StateFile.State state) -> {
                if (!state.snapshot().goesOn(bootId, startedMicros)) {
                    log.event("state is of another boot, a new run begins");
                    yield null;
                }
                log.event("run goes on", "run", state.run(), "sequence", state.sequence());
                yield state;
            }
        };
    }

    private Timekeeper timekeeper(StateFile stateFile) throws GeneralSecurityException {
        Timekeeper timekeeper =
                new Timekeeper(settings.timekeeper(), settings.ca(), settings.tokenFile());
        String handedOver = stateFile.loadCa();
        if (handedOver != null) {
            try {
                // The environment's may be the predecessor by now; both were given to us.
                timekeeper.trust(settings.ca() + "\n" + handedOver);
            } catch (GeneralSecurityException e) {
                log.event("the kept CA is unusable", "reason", e.getMessage());
            }
        }
        return timekeeper;
    }

    /** Meters and reports until the process is stopped; returns the exit code. */
    int run() {
        int code = 1;
        try {
            code = meterAndReport();
            return code;
        } finally {
            exitCode = code;
        }
    }

    private int meterAndReport() {
        nvmlThread.start();
        ReportSchedule schedule = new ReportSchedule(settings.reportPeriod(), new SecureRandom());
        // The first report shows that the meter runs, before there is much to report.
        long reportAt = startedMicros + FIRST_REPORT_MICROS;
        long saveAt = startedMicros + SAVE_EVERY_MICROS;
        while (!stopping) {
            long now = time.monotonicMicros();
            if (now >= reportAt) {
                Answer answer = reporter.report();
                reportAt = time.monotonicMicros() + schedule.after(answer).toNanos() / 1_000;
                String reason = reasonToLeave(time.monotonicMicros());
                if (reason != null && !stopping) {
                    log.event("exiting so that the container is started again", "reason", reason);
                    reporter.save();
                    return LEFT_FOR_NEW_CONTAINER;
                }
            }
            if (now >= saveAt) {
                saveAt = now + SAVE_EVERY_MICROS;
                reporter.save();
            }
            await(Math.min(reportAt, saveAt) - time.monotonicMicros());
        }
        return 0;
    }

    private @Nullable String reasonToLeave(long now) {
        String defect = broken;
        return watchdog.reasonToLeave(
                now,
                tickStartedMicros,
                meter.inside(),
                defect == null ? meter.wantsToLeave() : defect);
    }

    private void await(long micros) {
        try {
            if (micros > 0 && stopped.await(micros, TimeUnit.MICROSECONDS)) {
                return;
            }
        } catch (InterruptedException e) {
            stopping = true;
        }
    }

    private void tickForever() {
        long next = time.monotonicMicros();
        try {
            while (!stopping) {
                tickStartedMicros = time.monotonicMicros();
                meter.tick();
                watchdog.lookAtDevices(time.monotonicMicros());
                // By the plan, not by the last tick: what a tick takes must not add up to a drift.
                next = Math.max(next + TICK_MICROS, time.monotonicMicros());
                while (!stopping && time.monotonicMicros() < next) {
                    tickStartedMicros = time.monotonicMicros();
                    LockSupport.parkNanos((next - time.monotonicMicros()) * 1_000);
                }
            }
            meter.tick();
        } catch (RuntimeException e) {
            broken = "the meter failed: " + e;
            log.event("metering failed", "reason", e);
        } finally {
            lastTickDone.countDown();
        }
    }

    /** Shows the agent's numbers until closed. */
    Sidecar.Closing serveMetrics(AgentSettings agent, NodeFiles files) throws IOException {
        GpuEvents gpuEvents = new GpuEvents(source, meter::devicesChanged);
        Thread.ofPlatform().name("nvml-events").daemon().start(() -> waitForEvents(gpuEvents));
        AgentMetrics metrics =
                new AgentMetrics(
                        meter, reporter, files, gpuEvents, settings.node(), agent.dcgmNames());
        MetricsServer server =
                new MetricsServer(agent.metricsPort(), metrics::page, this::ticksInTime);
        log.event("metrics are served", "port", server.port());
        return server::close;
    }

    private void waitForEvents(GpuEvents gpuEvents) {
        while (!stopping) {
            if (!gpuEvents.round()) {
                LockSupport.parkNanos(Duration.ofMinutes(1).toNanos());
            }
        }
    }

    private boolean ticksInTime() {
        return time.monotonicMicros() - tickStartedMicros < 30_000_000;
    }

    /**
     * Ends metering, with one last tick and one last report if they take no longer than a pod's end
     * may wait for them. For the thread that got SIGTERM.
     *
     * @return the exit code: 0 if it was asked to end
     */
    int stop() {
        stopping = true;
        stopped.countDown();
        LockSupport.unpark(nvmlThread);
        try {
            boolean ticked = lastTickDone.await(LAST_TICK.toMillis(), TimeUnit.MILLISECONDS);
            var taken = new CompletableFuture<Boolean>();
            // Its patience is for connecting, and again for the answer: it may take longer.
            Thread.ofPlatform()
                    .daemon()
                    .start(() ->
                            taken.complete(reporter.report(LAST_REPORT) instanceof Answer.Taken));
            taken.completeOnTimeout(false, LAST_REPORT.toMillis(), TimeUnit.MILLISECONDS);
            log.event(
                    "stopped",
                    "lastTick",
                    ticked,
                    "lastReport",
                    taken.join() ? "taken" : "not taken");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return exitCode;
    }
}
