package io.gpusharing.nvml;

import static io.gpusharing.nvml.NvmlLayouts.PROCESSES_UTILIZATION_INFO;
import static io.gpusharing.nvml.NvmlLayouts.PROCESS_UTILIZATION;
import static io.gpusharing.nvml.NvmlLayouts.PROCESS_UTILIZATION_INFO;
import static io.gpusharing.nvml.NvmlLayouts.offset;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;

/** Busy share per process, by whichever of NVML's two calls the driver supports. */
final class ProcessUtilization {

    private static final long PID = offset(PROCESS_UTILIZATION, "pid");
    private static final long TIME = offset(PROCESS_UTILIZATION, "timeStamp");
    private static final long SM = offset(PROCESS_UTILIZATION, "smUtil");
    private static final long BYTES = PROCESS_UTILIZATION.byteSize();
    private static final long INFO_PID = offset(PROCESS_UTILIZATION_INFO, "pid");
    private static final long INFO_TIME = 0;
    private static final long INFO_SM = offset(PROCESS_UTILIZATION_INFO, "smUtil");
    private static final long INFO_BYTES = PROCESS_UTILIZATION_INFO.byteSize();

    private final NvmlFunctions functions;
    private final NvmlBuffers buffers;
    private final MemorySegment out;

    ProcessUtilization(NvmlFunctions functions, NvmlBuffers buffers) {
        this.functions = functions;
        this.buffers = buffers;
        this.out = buffers.out();
    }

    /**
     * @param lastSeen microseconds of CPU wall time; only what is newer counts
     */
    NvmlReturn since(long device, long lastSeen, UtilizationRows into) {
        NvmlReturn answer = ask(false, device, lastSeen, into);
        return answer.remedy() == Remedy.LOWER_FOR_GOOD
                ? ask(true, device, lastSeen, into)
                : answer;
    }

    private NvmlReturn ask(boolean newer, long device, long lastSeen, UtilizationRows into) {
        long bytes = newer ? INFO_BYTES : BYTES;
        long countAt = newer ? 4 : 0;
        into.clear(0);
        NvmlReturn answer = NvmlReturn.INSUFFICIENT_SIZE;
        for (int i = 0; i < NvmlBuffers.ATTEMPTS && answer == NvmlReturn.INSUFFICIENT_SIZE; i++) {
            MemorySegment rows = buffers.rows();
            int capacity = (int) (rows.byteSize() / bytes);
            out.set(JAVA_INT, countAt, capacity);
            answer = newer ? newer(device, lastSeen, rows) : older(device, lastSeen, rows);
            long count = unsigned(out, countAt);
            if (answer == NvmlReturn.INSUFFICIENT_SIZE) {
                buffers.grow(Math.max(capacity * 2L, count));
            } else if (answer.ok()) {
                into.clear(capacity);
                for (long at = 0; at < Math.min(capacity, count) * bytes; at += bytes) {
                    into.add(
                            unsigned(rows, at + (newer ? INFO_PID : PID)),
                            rows.get(JAVA_LONG, at + (newer ? INFO_TIME : TIME)),
                            unsigned(rows, at + (newer ? INFO_SM : SM)));
                }
            }
        }
        return answer;
    }

    private NvmlReturn older(long device, long lastSeen, MemorySegment rows) {
        return functions.call(
                NvmlCall.PROCESS_UTILIZATION, device, rows.address(), out.address(), lastSeen);
    }

    private NvmlReturn newer(long device, long lastSeen, MemorySegment rows) {
        out.set(JAVA_INT, 0, NvmlLayouts.version(PROCESSES_UTILIZATION_INFO, 1));
        out.set(JAVA_LONG, 8, lastSeen);
        out.set(JAVA_LONG, 16, rows.address());
        return functions.call(NvmlCall.PROCESSES_UTILIZATION_INFO, device, out.address());
    }

    private static long unsigned(MemorySegment from, long at) {
        return Integer.toUnsignedLong(from.get(JAVA_INT, at));
    }
}
