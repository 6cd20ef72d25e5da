package io.gpusharing.e2e.cuda;

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
import java.lang.invoke.MethodHandle;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;

/**
 * The first GPU that a process sees, through CUDA's driver interface. It belongs to the thread that
 * has made it, and is given back when the process ends.
 */
final class CudaGpu {

    /** A thread that waits for the GPU sleeps ({@code CU_CTX_SCHED_BLOCKING_SYNC}). */
    private static final int WAIT_ASLEEP = 4;

    /** {@code CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT}. */
    private static final int MULTIPROCESSORS = 16;

    private static final int THREADS = 256;

    private final SymbolLookup cuda;

    /** A driver's library is never unloaded: it has threads of its own. */
    private final Arena arena = Arena.global();

    private final Map<String, MethodHandle> functions = new HashMap<>();

    /** Where calls write what they answer: two numbers of 64 bits, or a UUID. */
    private final MemorySegment answer;

    private final int devices;
    private final int device;
    private final long module;
    private final MemorySegment parameters;
    private final MemorySegment parameterValues;

    /**
     * Begins to use it.
     *
     * @param library of the driver, {@code libcuda.so.1}
     * @param kernels in PTX, which the driver translates for the GPU that is there
     * @throws CudaException also where no GPU is seen
     */
    @SuppressWarnings("restricted") // Loading the driver's library is what this class is for.
    CudaGpu(String library, String kernels) throws CudaException {
        this.cuda = SymbolLookup.libraryLookup(library, arena);
        this.answer = arena.allocate(16, 8);
        this.parameterValues = arena.allocate(16, 8);
        this.parameters = arena.allocate(ADDRESS, 2);
        parameters.setAtIndex(ADDRESS, 0, parameterValues);
        parameters.setAtIndex(ADDRESS, 1, parameterValues.asSlice(8));
        call("cuInit", arguments(JAVA_INT), 0);
        call("cuDeviceGetCount", arguments(ADDRESS), answer);
        this.devices = answer.get(JAVA_INT, 0);
        call("cuDeviceGet", arguments(ADDRESS, JAVA_INT), answer, 0);
        this.device = answer.get(JAVA_INT, 0);
        call("cuDevicePrimaryCtxSetFlags_v2", arguments(JAVA_INT, JAVA_INT), device, WAIT_ASLEEP);
        call("cuDevicePrimaryCtxRetain", arguments(ADDRESS, JAVA_INT), answer, device);
        call("cuCtxSetCurrent", arguments(JAVA_LONG), answer.get(JAVA_LONG, 0));
        call("cuModuleLoadData", arguments(ADDRESS, ADDRESS), answer, arena.allocateFrom(kernels));
        this.module = answer.get(JAVA_LONG, 0);
    }

    /** How many GPUs the process sees. */
    int devices() {
        return devices;
    }

    /** As NVML spells it. */
    String uuid() throws CudaException {
        call("cuDeviceGetUuid", arguments(ADDRESS, JAVA_INT), answer, device);
        String digits = HexFormat.of().formatHex(answer.toArray(JAVA_BYTE));
        return "GPU-%s-%s-%s-%s-%s"
                .formatted(
                        digits.substring(0, 8),
                        digits.substring(8, 12),
                        digits.substring(12, 16),
                        digits.substring(16, 20),
                        digits.substring(20));
    }

    /** How many multiprocessors the process may use. */
    int multiprocessors() throws CudaException {
        call(
                "cuDeviceGetAttribute",
                arguments(ADDRESS, JAVA_INT, JAVA_INT),
                answer,
                MULTIPROCESSORS,
                device);
        return answer.get(JAVA_INT, 0);
    }

    /**
     * Memory of the GPU.
     *
     * @param free bytes that nobody has
     * @param total bytes
     */
    record Memory(long free, long total) {}

    Memory memory() throws CudaException {
        call("cuMemGetInfo_v2", arguments(ADDRESS, ADDRESS), answer, answer.asSlice(8));
        return new Memory(answer.get(JAVA_LONG, 0), answer.get(JAVA_LONG, 8));
    }

    /** Takes memory until the process ends, and returns its address there. */
    long allocate(long bytes) throws CudaException {
        call("cuMemAlloc_v2", arguments(ADDRESS, JAVA_LONG), answer, bytes);
        return answer.get(JAVA_LONG, 0);
    }

    /** Copies numbers of 32 bits from the GPU. */
    int[] read(long address, int count) throws CudaException {
        MemorySegment target = arena.allocate(JAVA_INT, count);
        call(
                "cuMemcpyDtoH_v2",
                arguments(ADDRESS, JAVA_LONG, JAVA_LONG),
                target,
                address,
                target.byteSize());
        return target.toArray(JAVA_INT);
    }

    /** Finds a kernel by its name. */
    long kernel(String name) throws CudaException {
        call(
                "cuModuleGetFunction",
                arguments(ADDRESS, JAVA_LONG, ADDRESS),
                answer,
                module,
                arena.allocateFrom(name));
        return answer.get(JAVA_LONG, 0);
    }

    /**
     * Starts a kernel, and does not wait for it.
     *
     * @param blocks of 256 threads
     * @param first its parameters, of which it may have fewer
     */
    void launch(long kernel, int blocks, long first, long second) throws CudaException {
        parameterValues.set(JAVA_LONG, 0, first);
        parameterValues.set(JAVA_LONG, 8, second);
        call(
                "cuLaunchKernel",
                arguments(
                        JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT,
                        JAVA_INT, JAVA_LONG, ADDRESS, ADDRESS),
                kernel,
                blocks,
                1,
                1,
                THREADS,
                1,
                1,
                0,
                0L,
                parameters,
                MemorySegment.NULL);
    }

    /** How many threads a number of blocks has. */
    static int threads(int blocks) {
        return blocks * THREADS;
    }

    /** Waits until all that was started has ended. */
    void await() throws CudaException {
        call("cuCtxSynchronize", arguments());
    }

    private static FunctionDescriptor arguments(MemoryLayout... arguments) {
        return FunctionDescriptor.of(JAVA_INT, arguments);
    }

    private void call(String function, FunctionDescriptor descriptor, Object... arguments)
            throws CudaException {
        int result;
        try {
            result =
                    (int)
                            functions
                                    .computeIfAbsent(function, name -> bound(name, descriptor))
                                    .invokeWithArguments(arguments);
        } catch (Throwable e) {
            throw new IllegalStateException("The binding of " + function + " is wrong", e);
        }
        if (result != 0) {
            throw new CudaException(function, result);
        }
    }

    @SuppressWarnings("restricted") // As above.
    private MethodHandle bound(String function, FunctionDescriptor descriptor) {
        MemorySegment address =
                cuda.find(function)
                        .orElseThrow(() ->
                                new IllegalStateException(
                                        "the driver's library has no " + function));
        return Linker.nativeLinker().downcallHandle(address, descriptor);
    }
}
