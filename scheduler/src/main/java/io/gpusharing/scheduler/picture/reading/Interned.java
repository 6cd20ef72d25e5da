package io.gpusharing.scheduler.picture.reading;

import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.WeakHashMap;
import org.jspecify.annotations.Nullable;

/**
 * One of many equal values, for as long as somebody has it: the pods of a job ask for the same, and
 * there are thousands of them. Safe for any thread.
 */
final class Interned {

    private final Map<Object, WeakReference<Object>> known = new WeakHashMap<>();

    /**
     * The value that is known and equal to this one, which is from now on if none was.
     *
     * @param value does not change
     */
    @SuppressWarnings("unchecked") // Equal values are of one type: strings, records, maps.
    synchronized <T> T one(T value) {
        WeakReference<Object> reference = known.get(value);
        @Nullable Object equal = reference == null ? null : reference.get();
        if (equal == null) {
            known.put(value, new WeakReference<>(value));
            return value;
        }
        return (T) equal;
    }
}
