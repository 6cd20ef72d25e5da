/**
 * The meter of GPU use: sidecar in a pod, or agent of a node. A program, not a library, so it
 * exports nothing. Beside NVML's binding the sidecar needs {@code java.base} alone; the agent
 * serves its metrics by the JDK's own small HTTP server.
 */
module io.gpusharing.sidecar {
    requires io.gpusharing.nvml;
    requires static jdk.httpserver;
    requires static org.jspecify;
}
