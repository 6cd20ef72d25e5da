package io.gpusharing.sidecar;

import io.gpusharing.sidecar.attribution.GpuResources;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * A node agent's environment variables besides {@link Settings}. All of it is optional.
 *
 * @param proc {@code GPUSHARING_PROC}: the machine's {@code /proc}; with hostPID that is our own
 * @param checkpoint {@code GPUSHARING_KUBELET_CHECKPOINT}: kubelet's table of devices and pods
 * @param podLogs {@code GPUSHARING_POD_LOGS}: a directory per pod, for the pods' names
 * @param grants {@code GPUSHARING_GRANTS}: which pod our device plugin gave which GPU
 * @param gpus {@code GPUSHARING_RESOURCES}: what asks for GPUs at this site, joined by commas
 * @param metricsPort {@code GPUSHARING_METRICS_PORT}
 * @param dcgmNames {@code GPUSHARING_DCGM_NAMES}: show dcgm-exporter's gauges too
 * @param commands {@code GPUSHARING_COMMANDS}: report the names of the processes on GPUs
 */
record AgentSettings(
        Path proc,
        Path checkpoint,
        Path podLogs,
        Path grants,
        GpuResources gpus,
        int metricsPort,
        boolean dcgmNames,
        boolean commands) {

    private static final int HIGHEST_PORT = 65_535;

    /**
     * Reads the environment.
     *
     * @throws Settings.BadSettings if the port is none
     */
    static AgentSettings from(Map<String, String> environment) throws Settings.BadSettings {
        String port = environment.getOrDefault("GPUSHARING_METRICS_PORT", "8081");
        if (!port.matches("\\d{1,5}") || Integer.parseInt(port) > HIGHEST_PORT) {
            throw new Settings.BadSettings(
                    List.of("GPUSHARING_METRICS_PORT is " + port + "; use for instance 8081"));
        }
        return new AgentSettings(
                Path.of(environment.getOrDefault("GPUSHARING_PROC", "/proc")),
                Path.of(
                        environment.getOrDefault(
                                "GPUSHARING_KUBELET_CHECKPOINT",
                                "/var/lib/kubelet/device-plugins/kubelet_internal_checkpoint")),
                Path.of(environment.getOrDefault("GPUSHARING_POD_LOGS", "/var/log/pods")),
                Path.of(
                        environment.getOrDefault(
                                "GPUSHARING_GRANTS", "/var/lib/gpusharing/grants.json")),
                new GpuResources(
                        List.of(environment.getOrDefault("GPUSHARING_RESOURCES", "").split(","))),
                Integer.parseInt(port),
                isTrue(environment, "GPUSHARING_DCGM_NAMES"),
                isTrue(environment, "GPUSHARING_COMMANDS"));
    }

    private static boolean isTrue(Map<String, String> environment, String name) {
        return Boolean.parseBoolean(environment.get(name));
    }
}
