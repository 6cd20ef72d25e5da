package io.gpusharing.sidecar.meter;

import io.gpusharing.nvml.NvmlLibrary;
import io.gpusharing.nvml.fake.FakeNvml;
import io.gpusharing.nvml.fake.FakeProcess;
import io.gpusharing.nvml.fake.Scenario;
import io.gpusharing.nvml.fake.VirtualTime;
import io.gpusharing.sidecar.attribution.GpuRequest;
import io.gpusharing.sidecar.attribution.GpuResources;
import io.gpusharing.sidecar.attribution.GrantEvents;
import io.gpusharing.sidecar.attribution.NodeFiles;
import io.gpusharing.sidecar.attribution.NodeView;
import io.gpusharing.sidecar.attribution.PodView;
import io.gpusharing.sidecar.attribution.ProcFs;
import io.gpusharing.sidecar.attribution.Viewpoint;
import io.gpusharing.sidecar.usage.Basis;
import io.gpusharing.sidecar.usage.DeviceUse;
import io.gpusharing.sidecar.usage.Snapshot;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A meter of one pod on a fake NVML and a virtual clock: what tests of the meter play with. */
public final class Bench {

    static final String POD = "0c5c2a52-6d0b-4b0a-9b7e-0a6f4b4b2f10";
    static final String GPU = "GPU-1f2e3d4c-0000-0000-0000-000000000000";
    static final Path NOWHERE = Path.of("/nonexistent");
    static final String BOOT = "b0070000-0000-0000-0000-000000000001";

    final VirtualTime time = new VirtualTime();
    Scenario scenario;
    FakeNvml fake;
    final List<String> events = new ArrayList<>();
    Path proc;
    final Viewpoint view;
    Meter meter;

    private Bench(Scenario scenario, String request, @Nullable Viewpoint view) {
        try {
            this.scenario = scenario;
            this.fake = new FakeNvml(scenario, time);
            this.proc = Files.createTempDirectory("bench-proc");
            ProcFs files = FakeProc.write(proc, scenario, BOOT);
            this.view = view == null ? new PodView(POD, GpuRequest.parse(request), files) : view;
            this.meter = start(null);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A pod with a fraction of the GPU. */
    static Bench shared(String... lines) {
        return new Bench(Scenario.parse(String.join("\n", lines)), "", null);
    }

    /** A pod that asked for whole GPUs. */
    static Bench exclusive(int gpus, String... lines) {
        return new Bench(
                Scenario.parse(String.join("\n", lines)), "main/nvidia.com/gpu=" + gpus, null);
    }

    /** The node's view; processes name their pods in the scenario. */
    static Bench node(String... lines) {
        return node(files(NOWHERE, NOWHERE, NOWHERE), lines);
    }

    /** The agent of a node on which a device plugin of ours gives GPUs to pods. */
    static Bench node(FakeGrants grants, String... lines) {
        return node(files(NOWHERE, NOWHERE, grants.file), lines);
    }

    /** What stands on the node's disk; {@link #NOWHERE} where that is nothing. */
    static NodeFiles files(Path checkpoint, Path podLogs, Path grants) {
        return new NodeFiles(checkpoint, podLogs, grants, GpuResources.KNOWN, new Silent());
    }

    static Bench node(NodeFiles files, String... lines) {
        Scenario scenario = Scenario.parse("view host\n" + String.join("\n", lines));
        try {
            Path proc = Files.createTempDirectory("bench-proc");
            NodeView view = new NodeView(FakeProc.write(proc, scenario, BOOT), files, true);
            Bench bench = new Bench(scenario, "", view);
            bench.proc = proc;
            return bench;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The process ends and starts again, maybe on another arrangement of the same machine. */
    Bench restart(Duration away, String boot, String... lines) {
        Snapshot snapshot = meter.snapshot();
        time.pass(away);
        if (lines.length > 0) {
            scenario = Scenario.parse(String.join("\n", lines));
            fake = new FakeNvml(scenario, time);
        }
        start(snapshot.goesOn(boot, time.monotonicMicros()) ? snapshot : null);
        return this;
    }

    /** A meter as it starts, with what an earlier one left behind. */
    Meter start(@Nullable Snapshot snapshot) {
        meter =
                new Meter(
                        () -> new NvmlLibrary.Found(fake, "fake"),
                        view,
                        time,
                        BOOT,
                        snapshot,
                        new Recorder());
        return meter;
    }

    /** Ticks once a period for so long. */
    Bench play(Duration length, Duration period) {
        for (long ticks = length.dividedBy(period); ticks > 0; ticks--) {
            time.pass(period);
            meter.tick();
        }
        return this;
    }

    Bench play(Duration length) {
        return play(length, Duration.ofSeconds(1));
    }

    /** Ticks once a second until a call has been entered so often. */
    void playUntil(String symbol, int calls) {
        while (fake.calls(symbol) <= calls) {
            play(Duration.ofSeconds(1));
        }
    }

    /** What all pods did on all GPUs. */
    List<DeviceUse> uses() {
        return meter.usage().pods().stream().flatMap(pod -> pod.devices().stream()).toList();
    }

    /** What the pod did on one GPU. */
    DeviceUse use(String uuid) {
        return use(POD, uuid);
    }

    DeviceUse use(String podUid, String uuid) {
        return meter.usage().pods().stream()
                .filter(pod -> pod.uid().equals(podUid))
                .flatMap(pod -> pod.devices().stream())
                .filter(device -> device.uuid().equals(uuid))
                .findFirst()
                .orElseThrow(() -> new AssertionError(uuid + " is not in " + meter.usage()));
    }

    DeviceUse use() {
        return use(GPU);
    }

    /** How many rows were dropped so far. */
    long droppedRows() {
        return meter.droppedRows();
    }

    /** What a process really used. */
    long truth(int process) {
        return fake.truthMicros(scenario.processes().get(process));
    }

    FakeProcess process(int number) {
        return scenario.processes().get(number);
    }

    MeterEvents recorder() {
        return new Recorder();
    }

    private static final class Silent implements GrantEvents {

        @Override
        public void grantsRead() {}

        @Override
        public void grantsUnreadable(String reason) {}

        @Override
        public void grantsGone() {}
    }

    private final class Recorder implements MeterEvents {

        @Override
        public void libraryOpened(String place) {
            events.add("opened " + place);
        }

        @Override
        public void libraryMissing(List<String> places) {
            events.add("missing");
        }

        @Override
        public void initialised(String driverVersion) {
            events.add("initialised " + driverVersion);
        }

        @Override
        public void closed(String reason) {
            events.add("closed " + reason);
        }

        @Override
        public void basisChanged(String uuid, Basis basis, String reason) {
            events.add("basis " + basis + " " + reason);
        }

        @Override
        public void clockJumped(long micros) {
            events.add("clock");
        }

        @Override
        public void leaving(String reason) {
            events.add("leaving " + reason);
        }
    }
}
