package io.gpusharing.sidecar;

import io.gpusharing.nvml.NvmlLibrary;
import io.gpusharing.nvml.TimeSource;
import io.gpusharing.nvml.fake.FakeNvml;
import io.gpusharing.nvml.fake.Scenario;
import io.gpusharing.sidecar.attribution.ProcFs;
import io.gpusharing.sidecar.meter.FakeProc;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/**
 * The very same sidecar, on a fake NVML: for the demo and for end-to-end tests. Settings come from
 * the environment as always.
 *
 * <pre>
 * java --enable-native-access=ALL-UNNAMED -cp sidecar.jar:sidecar-tests.jar \
 *     io.gpusharing.sidecar.FakeNvmlSidecar 'driver 580.159.03' 'view shared' \
 *     'device GPU-1f2e3d4c-0000-0000-0000-000000000000' 'process busy=30% memory=4GiB'
 * </pre>
 *
 * <p>With {@code view host} it is the node agent instead, and processes need a {@code uid=}.
 *
 * <p>Each argument is a line of the scenario, or the name of a file with such lines; see {@link
 * Scenario}.
 */
public final class FakeNvmlSidecar {

    private FakeNvmlSidecar() {}

    /** Meters a scenario until SIGTERM. */
    public static void main(String[] args) throws IOException {
        StringBuilder text = new StringBuilder();
        for (String arg : args) {
            Path file = Path.of(arg);
            text.append(Files.isRegularFile(file) ? Files.readString(file) : arg).append('\n');
        }
        Scenario scenario = Scenario.parse(text.toString());
        FakeNvml fake = new FakeNvml(scenario, TimeSource.SYSTEM);
        Path proc = Files.createTempDirectory("gpusharing-proc");
        String bootId = Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip();
        Sidecar.Library library = explicit -> () -> new NvmlLibrary.Found(fake, "a scenario");
        ProcFs files = FakeProc.write(proc, scenario, bootId);
        if (scenario.view() == Scenario.View.HOST) {
            Map<String, String> environment = new HashMap<>(System.getenv());
            environment.put("GPUSHARING_PROC", proc.toString());
            End.of(end -> Sidecar.runAgent(end, environment, library));
        }
        End.of(end -> Sidecar.run(end, System.getenv(), library, files));
    }
}
