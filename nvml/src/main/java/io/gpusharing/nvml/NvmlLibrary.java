package io.gpusharing.nvml;

import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Where NVML's symbols come from: found, or not and why. */
public sealed interface NvmlLibrary {

    /**
     * The library is open.
     *
     * @param symbols its exported functions
     * @param place what was given to the loader
     */
    record Found(SymbolLookup symbols, String place) implements NvmlLibrary {}

    /**
     * No library could be opened.
     *
     * @param reason in short, for every report
     * @param tried the places, for the log
     */
    record Missing(String reason, List<String> tried) implements NvmlLibrary {}

    /**
     * Places in the order of trust: the loader's own search path (an injected library is in its
     * cache), then GKE's and gpu-manager's mount, the distributions', the GPU Operator's driver
     * container, WSL. Never the unversioned name: in CUDA images it can be the toolkit's link-time
     * stub.
     */
    List<String> PLACES =
            List.of(
                    "libnvidia-ml.so.1",
                    "/usr/local/nvidia/lib64/libnvidia-ml.so.1",
                    "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1",
                    "/usr/lib64/libnvidia-ml.so.1",
                    "/usr/lib/aarch64-linux-gnu/libnvidia-ml.so.1",
                    "/run/nvidia/driver/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1",
                    "/run/nvidia/driver/usr/lib64/libnvidia-ml.so.1",
                    "/run/nvidia/driver/usr/lib/aarch64-linux-gnu/libnvidia-ml.so.1",
                    "/driver-root/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1",
                    "/driver-root/usr/lib64/libnvidia-ml.so.1",
                    "/driver-root/usr/lib/aarch64-linux-gnu/libnvidia-ml.so.1",
                    "/usr/lib/wsl/lib/libnvidia-ml.so.1");

    /**
     * Opens the first library that exports {@code nvmlInit_v2}.
     *
     * @param explicit the only file to open, or null to search
     */
    @SuppressWarnings("restricted") // Loading a native library is what this method is for.
    static NvmlLibrary open(@Nullable String explicit) {
        List<String> places = explicit == null ? PLACES : List.of(explicit);
        List<String> refused = new ArrayList<>();
        for (String place : places) {
            try {
                // The library is never unloaded: unloading a driver library under
                // its own threads is a way to crash.
                SymbolLookup symbols = SymbolLookup.libraryLookup(place, Arena.global());
                if (symbols.find("nvmlInit_v2").isPresent()) {
                    return new Found(symbols, place);
                }
                refused.add(place + " (has no nvmlInit_v2)");
            } catch (IllegalArgumentException e) {
                refused.add(place);
            }
        }
        return new Missing("no " + places.getFirst() + " that works in this container", refused);
    }
}
