package io.gpusharing.timekeeper.database;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.support.SqlArrayValue;

/**
 * Turns a list of rows into one array per column, for {@code unnest}. The driver sends arrays of
 * texts, numbers and flags as they are, and makes one long literal of any other, letter by letter;
 * so identifiers and instants go as texts, and the statement names the type: {@code ?::uuid[]}.
 */
public final class ArrayParameters<T> {

    private final List<T> rows;
    private final List<Object> parameters = new ArrayList<>();

    private ArrayParameters(List<T> rows) {
        this.rows = rows;
    }

    public static <T> ArrayParameters<T> of(List<T> rows) {
        return new ArrayParameters<>(rows);
    }

    public static SqlArrayValue uuids(Collection<UUID> values) {
        return new SqlArrayValue("uuid", values.toArray());
    }

    static SqlArrayValue instants(Collection<Instant> values) {
        return new SqlArrayValue("timestamptz", values.stream().map(Instant::toString).toArray());
    }

    /** A parameter that is the same for all rows. */
    public ArrayParameters<T> constant(Object value) {
        parameters.add(value);
        return this;
    }

    public ArrayParameters<T> uuid(Function<T, UUID> column) {
        return text(row -> String.valueOf(column.apply(row)));
    }

    public ArrayParameters<T> text(Function<T, @Nullable String> column) {
        return add("text", rows.stream().map(column).toArray(String[]::new));
    }

    public ArrayParameters<T> number(ToLongFunction<T> column) {
        return add("int8", rows.stream().map(column::applyAsLong).toArray(Long[]::new));
    }

    public ArrayParameters<T> flag(Function<T, Boolean> column) {
        return add("bool", rows.stream().map(column).toArray(Boolean[]::new));
    }

    /** As text in UTC: the driver would write a timestamp in the JVM's own zone. */
    public ArrayParameters<T> instant(Function<T, @Nullable Instant> column) {
        return text(row -> Timestamps.text(column.apply(row)));
    }

    public List<Object> parameters() {
        return parameters;
    }

    private ArrayParameters<T> add(String type, Object[] values) {
        parameters.add(new SqlArrayValue(type, values));
        return this;
    }
}
