package io.gpusharing.sidecar;

import io.gpusharing.sidecar.meter.GpuRequest;
import io.gpusharing.sidecar.meter.NvmlSource;
import io.gpusharing.sidecar.meter.PodView;
import io.gpusharing.sidecar.meter.ProcFs;
import io.gpusharing.sidecar.meter.TimeSource;
import io.gpusharing.sidecar.nvml.NvmlLibrary;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.Map;

/** The meter's entry point: what one pod really does with its share of the GPUs. */
public final class Sidecar {

    /** The environment cannot be used; restarting alone will not mend it. */
    static final int BAD_SETTINGS = 78;

    private Sidecar() {}

    /** Meters until SIGTERM. All settings come from the environment. */
    public static void main(String[] args) {
        System.exit(
                run(
                        System.getenv(),
                        explicit -> () -> NvmlLibrary.open(explicit),
                        new ProcFs(Path.of("/proc"))));
    }

    /** What differs between the real library and a stand-in for it. */
    @FunctionalInterface
    interface Library {

        /** The source of symbols, given the place that the settings name, or null. */
        NvmlSource at(@org.jspecify.annotations.Nullable String explicit);
    }

    static int run(Map<String, String> environment, Library library, ProcFs proc) {
        EventLog log = new EventLog(System.out);
        try {
            Settings settings = Settings.from(environment, false);
            keepConnections();
            log.event(
                    "meter starts",
                    "namespace",
                    settings.namespace(),
                    "pod",
                    settings.pod(),
                    "uid",
                    settings.podUid(),
                    "node",
                    settings.node(),
                    "timekeeper",
                    settings.timekeeper());
            PodView view =
                    new PodView(settings.podUid(), GpuRequest.parse(settings.request()), proc);
            MeterProcess process =
                    new MeterProcess(
                            settings,
                            "Sidecar",
                            library.at(settings.nvmlLibrary()),
                            view,
                            proc,
                            TimeSource.SYSTEM,
                            log);
            Runtime.getRuntime().addShutdownHook(Thread.ofPlatform().unstarted(process::stop));
            return process.run();
        } catch (Settings.BadSettings e) {
            log.event("the environment cannot be used", "problems", e.getMessage());
            return BAD_SETTINGS;
        } catch (GeneralSecurityException e) {
            log.event("GPUSHARING_CA cannot be used", "problem", e.getMessage());
            return BAD_SETTINGS;
        }
    }

    private static void keepConnections() {
        // A TLS handshake per report would be most of the meter's cost, and the JDK drops an idle
        // connection after five seconds where the server does not say how long it keeps it.
        System.setProperty("http.keepAlive.time.server", "90");
    }
}
