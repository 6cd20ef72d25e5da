package io.gpusharing.deviceplugin;

import io.gpusharing.deviceplugin.Settings.BadSettings;
import io.gpusharing.deviceplugin.disk.AtomicFile;
import io.gpusharing.deviceplugin.mps.GpuFolder;
import io.gpusharing.deviceplugin.mps.MpsProgram;
import io.gpusharing.deviceplugin.mps.daemon.ComputeModes;
import io.gpusharing.deviceplugin.mps.daemon.DaemonSupervisor;
import io.gpusharing.deviceplugin.mps.daemon.NvmlDevices;
import io.gpusharing.nvml.NvmlLibrary;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The entry point of the DaemonSet {@code gpusharing-mps}: runs the MPS daemons that the device
 * plugin wants until SIGTERM. All settings come from the environment.
 */
public final class MpsDaemons {

    private static final Logger log = LoggerFactory.getLogger(MpsDaemons.class);

    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(500);

    /** Beyond it this program is started again, which ends every client. */
    private static final Duration LONGEST_LOOK = Duration.ofMinutes(4);

    private static final int BAD_SETTINGS = 78;

    /**
     * The environment variables.
     *
     * @param podUid {@code GPUSHARING_POD_UID}: of the pod in which this program runs
     * @param state {@code GPUSHARING_STATE_DIR}, as for the device plugin
     * @param folders below {@code GPUSHARING_SHARES_DIR}, as for the device plugin
     * @param program {@code GPUSHARING_MPS_PROGRAM}, as for the device plugin
     * @param nvml {@code GPUSHARING_NVML_LIBRARY}, as for the device plugin; empty to search
     * @param exclusive {@code GPUSHARING_MPS_COMPUTE_MODE}: {@code Exclusive} (by default), so that
     *     nobody gets at a shared GPU but by MPS, or {@code Unchanged}
     * @param checkSeconds {@code GPUSHARING_MPS_CHECK_SECONDS}: how long a client may take to get
     *     something done before the daemon is ended, 20 by default
     * @param clients {@code GPUSHARING_MPS_CLIENTS}, as for the device plugin
     * @param port {@code GPUSHARING_PORT}: of probes and metrics, 9403 by default
     */
    record Environment(
            String podUid,
            Path state,
            Path folders,
            MpsProgram program,
            String nvml,
            boolean exclusive,
            int checkSeconds,
            int clients,
            int port) {

        static Environment from(Map<String, String> environment) throws BadSettings {
            var problems = new ArrayList<String>();
            boolean exclusive =
                    Settings.oneOf(
                                    environment,
                                    "GPUSHARING_MPS_COMPUTE_MODE",
                                    List.of("Exclusive", "Unchanged"),
                                    problems)
                            .equals("Exclusive");
            int seconds =
                    Settings.number(environment, "GPUSHARING_MPS_CHECK_SECONDS", 20, 600, problems);
            int clients = Settings.mpsClients(environment, problems);
            int port = Settings.number(environment, "GPUSHARING_PORT", 9403, 65_535, problems);
            if (!problems.isEmpty()) {
                throw new BadSettings(problems);
            }
            return new Environment(
                    environment.getOrDefault("GPUSHARING_POD_UID", ""),
                    Path.of(
                            environment.getOrDefault(
                                    "GPUSHARING_STATE_DIR", "/var/lib/gpusharing")),
                    Path.of(environment.getOrDefault("GPUSHARING_SHARES_DIR", "/run/gpusharing"))
                            .resolve(GpuFolder.NAME),
                    MpsProgram.find(environment.getOrDefault("GPUSHARING_MPS_PROGRAM", "")),
                    environment.getOrDefault("GPUSHARING_NVML_LIBRARY", ""),
                    exclusive,
                    seconds,
                    clients,
                    port);
        }
    }

    private MpsDaemons() {}

    public static void main(String[] args) throws IOException, InterruptedException {
        Environment environment;
        try {
            environment = Environment.from(System.getenv());
        } catch (BadSettings e) {
            log.atError().addKeyValue("problem", e.getMessage()).log("cannot start");
            System.exit(BAD_SETTINGS);
            return;
        }
        log.atInfo()
                .addKeyValue("program", environment.program().command().getFirst())
                .addKeyValue("folder", environment.folders())
                .log("MPS daemons are looked after");
        introduce(environment);
        String library = environment.nvml();
        var devices = new NvmlDevices(() -> NvmlLibrary.open(library.isEmpty() ? null : library));
        var supervisor =
                new DaemonSupervisor(
                        environment.folders(),
                        environment.program(),
                        Duration.ofSeconds(environment.checkSeconds()),
                        environment.exclusive() ? devices : ComputeModes.UNCHANGED,
                        devices,
                        environment.clients());
        var heartbeat = new Heartbeat("what looks after orders", LONGEST_LOOK, Heartbeat.TICKS);
        var probes =
                new ProbeServer(
                        environment.port(),
                        heartbeat::dead,
                        Optional::empty,
                        () -> metrics(supervisor.failures()));
        Runtime.getRuntime()
                .addShutdownHook(
                        Thread.ofPlatform()
                                .unstarted(() -> {
                                    probes.close();
                                    supervisor.close();
                                }));
        Watchdog.start(heartbeat::dead);
        String told = "";
        while (true) {
            String problem = look(supervisor);
            if (!problem.isEmpty() && !problem.equals(told)) {
                log.atError().addKeyValue("reason", problem).log("cannot look for orders");
            }
            told = problem;
            heartbeat.beat();
            Thread.sleep(BETWEEN_LOOKS);
        }
    }

    /**
     * Writes down which pod this is, before it has any daemon. The node agent knows the servers of
     * MPS by it, and by nothing that a tenant could choose; without it their pod gets a part of
     * what their clients do.
     */
    static void introduce(Environment environment) {
        try {
            AtomicFile.write(
                    environment.state().resolve("mps-pod"), environment.podUid(), "rw-r--r--");
        } catch (IOException e) {
            log.atError()
                    .addKeyValue("reason", e)
                    .log("the node agent cannot tell this pod from those of tenants");
        }
    }

    /** Daemons that run are not to end by what can be read a moment later. */
    private static String look(DaemonSupervisor supervisor) {
        try {
            supervisor.look();
            return "";
        } catch (IOException | RuntimeException e) {
            return e.toString();
        }
    }

    /** In Prometheus' text format. */
    static String metrics(Map<String, Long> failures) {
        var page =
                new StringBuilder(
                        """
                        # HELP gpusharing_mps_daemon_failures_total How often the MPS daemon of a GPU ended or did not work.
                        # TYPE gpusharing_mps_daemon_failures_total counter
                        """);
        failures.forEach((gpu, count) ->
                page.append(
                        "gpusharing_mps_daemon_failures_total{uuid=\"%s\"} %d%n"
                                .formatted(gpu, count)));
        return page.toString();
    }
}
