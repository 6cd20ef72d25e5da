package io.gpusharing.deviceplugin.mps.daemon;

import io.gpusharing.nvml.ComputeMode;
import io.gpusharing.nvml.Nvml;
import io.gpusharing.nvml.NvmlLibrary;
import io.gpusharing.nvml.NvmlReturn;
import io.gpusharing.nvml.ProcessList;
import java.io.IOException;
import java.util.Locale;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Supplier;

/**
 * What NVML is asked and told of single GPUs. One that hangs holds up whoever asks of it, and
 * nobody else.
 */
public final class NvmlDevices implements ComputeModes, GpuDaemon.Devices {

    private final Supplier<NvmlLibrary> library;

    public NvmlDevices(Supplier<NvmlLibrary> library) {
        this.library = library;
    }

    @Override
    public void set(String gpu, ComputeMode mode) throws IOException {
        on(
                gpu,
                (nvml, device) -> {
                    if (nvml.computeMode(device).ok() && nvml.result() == mode.number()) {
                        return "";
                    }
                    check(nvml.setComputeMode(device, mode), "nvmlDeviceSetComputeMode", gpu);
                    return "";
                });
    }

    @Override
    public String computeCapability(String gpu) throws IOException {
        return on(
                gpu,
                (nvml, device) -> {
                    check(
                            nvml.computeCapability(device),
                            "nvmlDeviceGetCudaComputeCapability",
                            gpu);
                    return String.format(
                            Locale.ROOT, "%d.%d", nvml.result() / 10, nvml.result() % 10);
                });
    }

    @Override
    public SortedSet<Long> processes(String gpu) throws IOException {
        return on(
                gpu,
                (nvml, device) -> {
                    var list = new ProcessList();
                    check(
                            nvml.runningProcesses(device, list),
                            "nvmlDeviceGetComputeRunningProcesses",
                            gpu);
                    var processes = new TreeSet<Long>();
                    for (int i = 0; i < list.count; i++) {
                        processes.add(list.pid[i]);
                    }
                    return processes;
                });
    }

    private interface Question<T> {
        T ask(Nvml nvml, long device) throws IOException;
    }

    /** NVML is opened for each question: a driver that is to be unloaded is not held. */
    private <T> T on(String gpu, Question<T> question) throws IOException {
        Nvml nvml =
                switch (library.get()) {
                    case NvmlLibrary.Found(var symbols, var place) -> new Nvml(symbols);
                    case NvmlLibrary.Missing(String reason, var tried) ->
                            throw new IOException(reason);
                };
        check(nvml.init(), "nvmlInit_v2", gpu);
        try {
            check(nvml.deviceCount(), "nvmlDeviceGetCount_v2", gpu);
            int count = nvml.result();
            for (int index = 0; index < count; index++) {
                if (nvml.deviceByIndex(index).ok()) {
                    long device = nvml.handle();
                    if (gpu.equals(nvml.uuid(device))) {
                        return question.ask(nvml, device);
                    }
                }
            }
            throw new IOException("NVML lists no GPU " + gpu);
        } finally {
            nvml.shutdown();
        }
    }

    private static void check(NvmlReturn answer, String function, String gpu) throws IOException {
        if (!answer.ok()) {
            throw new IOException("%s answered %s for %s".formatted(function, answer, gpu));
        }
    }
}
