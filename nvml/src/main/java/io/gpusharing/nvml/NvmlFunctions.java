package io.gpusharing.nvml;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.util.Objects.requireNonNull;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** The functions of one NVML library. Nothing is called that it does not export. */
final class NvmlFunctions {

    /**
     * All calls are made in one shape, because each costs the process a tenth of a megabyte. The
     * System V and AArch64 conventions pass at least six integers and pointers in registers, and a
     * function reads only those that it declares, of an {@code unsigned int} the lower half.
     */
    private static final FunctionDescriptor SHAPE =
            FunctionDescriptor.of(
                    JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);

    private final Map<NvmlCall, Bound> calls = new EnumMap<>(NvmlCall.class);
    private volatile @Nullable NvmlCall inside;
    private NvmlReturn answer = NvmlReturn.SUCCESS;

    /** One call as this library serves it: {@code handle} is null where it does not. */
    private record Bound(
            @Nullable MethodHandle handle,
            long processEntryBytes,
            Map<NvmlReturn, AtomicLong> failures) {

        NvmlReturn noted(NvmlReturn answer) {
            if (answer != NvmlReturn.SUCCESS) {
                requireNonNull(failures.get(answer)).incrementAndGet();
            }
            return answer;
        }
    }

    NvmlFunctions(SymbolLookup symbols) {
        for (NvmlCall call : NvmlCall.values()) {
            calls.put(call, bind(call, symbols));
        }
    }

    @SuppressWarnings("restricted") // Binding native functions is what this class is for.
    private static Bound bind(NvmlCall call, SymbolLookup symbols) {
        Map<NvmlReturn, AtomicLong> failures = new EnumMap<>(NvmlReturn.class);
        for (NvmlReturn answer : NvmlReturn.values()) {
            failures.put(answer, new AtomicLong());
        }
        for (String symbol : call.symbols()) {
            Optional<MemorySegment> address = symbols.find(symbol);
            if (address.isPresent()) {
                boolean suffixed = symbol.endsWith("_v2") || symbol.endsWith("_v3");
                return new Bound(
                        Linker.nativeLinker().downcallHandle(address.get(), SHAPE),
                        (suffixed ? NvmlLayouts.PROCESS_INFO_V2 : NvmlLayouts.PROCESS_INFO_V1)
                                .byteSize(),
                        failures);
            }
        }
        return new Bound(null, 0, failures);
    }

    private Bound bound(NvmlCall call) {
        return requireNonNull(calls.get(call));
    }

    /** The size of one entry that a list of processes is answered in; 0 where there is no list. */
    long processEntryBytes(NvmlCall call) {
        return bound(call).processEntryBytes();
    }

    /** The call that is running right now, seen from another thread; null between calls. */
    @Nullable NvmlCall inside() {
        return inside;
    }

    /** What the last call was answered. */
    NvmlReturn answer() {
        return answer;
    }

    /** How often a call was answered so. Safe from any thread. */
    long failures(NvmlCall call, NvmlReturn answer) {
        return requireNonNull(bound(call).failures().get(answer)).get();
    }

    NvmlReturn call(NvmlCall call) {
        return call(call, 0, 0, 0, 0, 0, 0);
    }

    NvmlReturn call(NvmlCall call, long a) {
        return call(call, a, 0, 0, 0, 0, 0);
    }

    NvmlReturn call(NvmlCall call, long a, long b) {
        return call(call, a, b, 0, 0, 0, 0);
    }

    NvmlReturn call(NvmlCall call, long a, long b, long c) {
        return call(call, a, b, c, 0, 0, 0);
    }

    NvmlReturn call(NvmlCall call, long a, long b, long c, long d) {
        return call(call, a, b, c, d, 0, 0);
    }

    NvmlReturn call(NvmlCall call, long a, long b, long c, long d, long e, long f) {
        Bound bound = bound(call);
        MethodHandle handle = bound.handle();
        if (handle == null) {
            answer = bound.noted(NvmlReturn.FUNCTION_NOT_FOUND);
            return answer;
        }
        inside = call;
        try {
            answer = bound.noted(NvmlReturn.of((int) handle.invokeExact(a, b, c, d, e, f)));
            return answer;
        } catch (Throwable broken) {
            throw new IllegalStateException("The binding of " + call + " is wrong", broken);
        } finally {
            inside = null;
        }
    }
}
