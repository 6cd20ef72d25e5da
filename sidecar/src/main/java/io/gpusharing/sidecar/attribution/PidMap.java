package io.gpusharing.sidecar.attribution;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A small map from pid to something, whose entries fade when nobody asks for them. Reading and
 * refreshing allocate nothing, which a map with boxed keys would.
 */
final class PidMap<V> {

    private final long lifeMicros;
    private long[] pids = new long[64];
    private long[] touched = new long[64];
    private @Nullable Object[] values = new @Nullable Object[64];
    private int used;

    /**
     * @param lifeMicros how long an entry lives after it was put or touched
     */
    PidMap(long lifeMicros) {
        this.lifeMicros = lifeMicros;
    }

    @Nullable V get(long pid, long nowMicros) {
        int at = slot(pid);
        return values[at] == null || nowMicros - touched[at] > lifeMicros ? null : value(at);
    }

    void touch(long pid, long nowMicros) {
        int at = slot(pid);
        if (values[at] != null) {
            touched[at] = nowMicros;
        }
    }

    void put(long pid, V value, long nowMicros) {
        if (used * 2 >= pids.length) {
            rebuild(nowMicros);
        }
        int at = slot(pid);
        if (values[at] == null) {
            used++;
        }
        pids[at] = pid;
        values[at] = value;
        touched[at] = nowMicros;
    }

    private int slot(long pid) {
        int mask = pids.length - 1;
        int at = (int) ((pid * 0x9E3779B97F4A7C15L) >>> 40) & mask;
        while (values[at] != null && pids[at] != pid) {
            at = (at + 1) & mask;
        }
        return at;
    }

    /** Drops what has faded, and doubles the table if the rest still fills it by a quarter. */
    private void rebuild(long nowMicros) {
        long[] oldPids = pids;
        long[] oldTouched = touched;
        @Nullable Object[] oldValues = values;
        long living = 0;
        for (int i = 0; i < oldPids.length; i++) {
            living += oldValues[i] != null && nowMicros - oldTouched[i] <= lifeMicros ? 1 : 0;
        }
        int size = living * 4 >= oldPids.length ? oldPids.length * 2 : oldPids.length;
        pids = new long[size];
        touched = new long[size];
        values = Arrays.copyOf(new @Nullable Object[0], size);
        used = 0;
        for (int i = 0; i < oldPids.length; i++) {
            Object value = oldValues[i];
            if (value != null && nowMicros - oldTouched[i] <= lifeMicros) {
                int at = slot(oldPids[i]);
                pids[at] = oldPids[i];
                touched[at] = oldTouched[i];
                values[at] = value;
                used++;
            }
        }
    }

    @SuppressWarnings("unchecked") // Only put() fills the array.
    private @Nullable V value(int at) {
        return (V) values[at];
    }
}
