/**
 * NVIDIA's management library, for everything here that reads GPUs. Needs {@code java.base} alone.
 */
module io.gpusharing.nvml {
    requires static transitive org.jspecify;

    exports io.gpusharing.nvml;
}
