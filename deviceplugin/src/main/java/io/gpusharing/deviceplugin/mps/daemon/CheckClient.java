package io.gpusharing.deviceplugin.mps.daemon;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;

/**
 * A program of its own: gets some work done by CUDA's driver interface, as any client of MPS would,
 * and ends. A call of a client may hang for ever where a server is wedged, so it is never made in a
 * process that has anything else to do.
 */
public final class CheckClient {

    /** How it ends when something else than success was answered. */
    static final int FAILED = 3;

    private static final int BYTES = 1 << 20;

    private final SymbolLookup cuda;
    private final Linker linker = Linker.nativeLinker();

    @SuppressWarnings("restricted") // Loading the driver's library is what this program is for.
    private CheckClient(String library, Arena arena) {
        cuda = SymbolLookup.libraryLookup(library, arena);
    }

    /**
     * Prints what failed, if anything does: the call, and CUDA's number for why.
     *
     * @param args the driver's library, {@code libcuda.so.1} by default
     */
    @SuppressWarnings("SystemOut") // It says one line to whoever has started it.
    public static void main(String[] args) {
        try (Arena arena = Arena.ofShared()) {
            String library = args.length == 0 ? "libcuda.so.1" : args[0];
            new CheckClient(library, arena).work(arena);
            System.out.println("done");
        } catch (CudaException | IllegalArgumentException e) {
            System.out.println(e.getMessage());
            System.exit(FAILED);
        }
    }

    private static final class CudaException extends Exception {
        private static final long serialVersionUID = 1;

        CudaException(String message) {
            super(message);
        }
    }

    /** A context on the only GPU, memory on it, and a kernel of the driver's own that writes it. */
    private void work(Arena arena) throws CudaException {
        MemorySegment out = arena.allocate(JAVA_LONG);
        call("cuInit", arguments(JAVA_INT), 0);
        call("cuDeviceGet", arguments(ADDRESS, JAVA_INT), out, 0);
        int device = out.get(JAVA_INT, 0);
        call("cuDevicePrimaryCtxRetain", arguments(ADDRESS, JAVA_INT), out, device);
        call("cuCtxSetCurrent", arguments(JAVA_LONG), out.get(JAVA_LONG, 0));
        call("cuMemAlloc_v2", arguments(ADDRESS, JAVA_LONG), out, (long) BYTES);
        long memory = out.get(JAVA_LONG, 0);
        call(
                "cuMemsetD8_v2",
                arguments(JAVA_LONG, JAVA_BYTE, JAVA_LONG),
                memory,
                (byte) 1,
                (long) BYTES);
        call("cuCtxSynchronize", arguments());
        call("cuMemFree_v2", arguments(JAVA_LONG), memory);
        call("cuDevicePrimaryCtxRelease_v2", arguments(JAVA_INT), device);
    }

    private static FunctionDescriptor arguments(MemoryLayout... arguments) {
        return FunctionDescriptor.of(JAVA_INT, arguments);
    }

    @SuppressWarnings("restricted") // As above.
    private void call(String function, FunctionDescriptor descriptor, Object... arguments)
            throws CudaException {
        MemorySegment address =
                cuda.find(function)
                        .orElseThrow(
                                () -> new CudaException("the driver's library has no " + function));
        int answer;
        try {
            answer =
                    (int) linker.downcallHandle(address, descriptor).invokeWithArguments(arguments);
        } catch (Throwable e) {
            throw new IllegalStateException("The binding of " + function + " is wrong", e);
        }
        if (answer != 0) {
            throw new CudaException("%s answered %d".formatted(function, answer));
        }
    }
}
