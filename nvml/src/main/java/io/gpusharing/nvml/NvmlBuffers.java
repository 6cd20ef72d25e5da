package io.gpusharing.nvml;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** The memory that NVML writes answers to, allocated once; it grows where an answer is longer. */
final class NvmlBuffers {

    private static final int ROWS = 1024;
    static final int MAX_ROWS = 16 * ROWS;

    /** How often a call is made with larger memory, since processes may begin meanwhile. */
    static final int ATTEMPTS = 4;

    private final Arena arena = Arena.ofAuto();
    private final MemorySegment out = arena.allocate(256, 8);
    private MemorySegment rows =
            arena.allocate(NvmlLayouts.PROCESS_UTILIZATION.byteSize() * ROWS, 8);

    /** Numbers, handles and texts. */
    MemorySegment out() {
        return out;
    }

    /** Lists; another segment after {@link #grow}. */
    MemorySegment rows() {
        return rows;
    }

    void grow(long wantedRows) {
        long capacity =
                Math.clamp(wantedRows, ROWS, MAX_ROWS)
                        * NvmlLayouts.PROCESS_UTILIZATION_INFO.byteSize();
        if (capacity > rows.byteSize()) {
            rows = arena.allocate(capacity, 8);
        }
    }

    /**
     * The text in {@link #out} up to the NUL or the limit, whichever comes first; what is no ASCII
     * is '?'.
     */
    String text(int limit) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < limit; i++) {
            int c = out.get(JAVA_BYTE, i);
            if (c == 0) {
                break;
            }
            text.append(c >= ' ' && c < 127 ? (char) c : '?');
        }
        return text.toString();
    }
}
