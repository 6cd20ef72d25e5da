package io.gpusharing.sidecar;

import io.gpusharing.nvml.NvmlLibrary;
import io.gpusharing.nvml.TimeSource;
import io.gpusharing.sidecar.attribution.GpuRequest;
import io.gpusharing.sidecar.attribution.NodeFiles;
import io.gpusharing.sidecar.attribution.NodeView;
import io.gpusharing.sidecar.attribution.PodView;
import io.gpusharing.sidecar.attribution.ProcFs;
import io.gpusharing.sidecar.attribution.Viewpoint;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The meter's entry point: what one pod really does with its share of the GPUs. */
public final class Sidecar {

    /** The environment cannot be used; restarting alone will not mend it. */
    static final int BAD_SETTINGS = 78;

    private Sidecar() {}

    /**
     * Meters until SIGTERM. All settings come from the environment.
     *
     * @param args {@code --node} for the agent of a node; nothing for the sidecar of a pod
     */
    public static void main(String[] args) {
        End.of(end -> {
            Library library = explicit -> () -> NvmlLibrary.open(explicit);
            Map<String, String> environment = System.getenv();
            return List.of(args).contains("--node")
                    ? runAgent(end, environment, library)
                    : run(end, environment, library, new ProcFs(Path.of("/proc")));
        });
    }

    /** What differs between the real library and a stand-in for it. */
    @FunctionalInterface
    interface Library {

        /** The source of symbols, given the place that the settings name, or null. */
        Supplier<NvmlLibrary> at(@Nullable String explicit);
    }

    static int run(End end, Map<String, String> environment, Library library, ProcFs proc) {
        EventLog log = new EventLog(System.out);
        try {
            Settings settings = Settings.from(environment, false);
            PodView view =
                    new PodView(settings.podUid(), GpuRequest.parse(settings.request()), proc);
            return meter(end, settings, "Sidecar", library, view, proc, log, process -> () -> {});
        } catch (Settings.BadSettings | GeneralSecurityException | IOException e) {
            return refused(end, log, e);
        }
    }

    static int runAgent(End end, Map<String, String> environment, Library library) {
        EventLog log = new EventLog(System.out);
        try {
            Settings settings = Settings.from(environment, true);
            AgentSettings agent = AgentSettings.from(environment);
            ProcFs proc = new ProcFs(agent.proc());
            NodeFiles files =
                    new NodeFiles(
                            agent.checkpoint(),
                            agent.podLogs(),
                            agent.grants(),
                            agent.gpus(),
                            new LoggedEvents(log));
            NodeView view = new NodeView(proc, files, agent.commands());
            return meter(
                    end,
                    settings,
                    "Agent",
                    library,
                    view,
                    proc,
                    log,
                    process -> process.serveMetrics(agent, files));
        } catch (Settings.BadSettings | GeneralSecurityException | IOException e) {
            return refused(end, log, e);
        }
    }

    /** What a meter opens besides, and closes at its end. */
    private interface Extra {

        Closing open(MeterProcess process) throws IOException;
    }

    /** Closes without an exception. */
    interface Closing extends AutoCloseable {

        @Override
        void close();
    }

    private static int meter(
            End end,
            Settings settings,
            String kind,
            Library library,
            Viewpoint view,
            ProcFs proc,
            EventLog log,
            Extra extra)
            throws GeneralSecurityException, IOException {
        keepConnections();
        log.event(
                "meter starts",
                "kind",
                kind,
                "namespace",
                settings.namespace(),
                "pod",
                settings.pod(),
                "uid",
                settings.podUid(),
                "node",
                settings.node(),
                "timekeeper",
                settings.timekeeper(),
                "aotCache",
                aotCache());
        Supplier<NvmlLibrary> source = library.at(settings.nvmlLibrary());
        MeterProcess process =
                new MeterProcess(settings, kind, source, view, proc, TimeSource.SYSTEM, log);
        end.with(process::stop);
        try (Closing _ = extra.open(process)) {
            return process.run();
        }
    }

    /** The runtime of the image has no other archive that it could share. */
    private static String aotCache() {
        return System.getProperty("java.vm.info", "").contains("sharing") ? "USED" : "UNUSED";
    }

    private static int refused(End end, EventLog log, Exception problem) {
        end.with(() -> BAD_SETTINGS);
        log.event("the meter cannot start", "problem", problem);
        return BAD_SETTINGS;
    }

    private static void keepConnections() {
        // A TLS handshake per report would be most of the meter's cost, and the JDK drops an idle
        // connection after five seconds where the server does not say how long it keeps it.
        System.setProperty("http.keepAlive.time.server", "90");
    }
}
