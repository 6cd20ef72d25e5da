package io.gpusharing.deviceplugin.mps.daemon;

import java.util.SortedSet;

/** GPUs that are all alike. */
record PlayedDevices(String capability, SortedSet<Long> processes) implements GpuDaemon.Devices {

    @Override
    public String computeCapability(String gpu) {
        return capability;
    }

    @Override
    public SortedSet<Long> processes(String gpu) {
        return processes;
    }
}
