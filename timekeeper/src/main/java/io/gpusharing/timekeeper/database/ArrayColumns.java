package io.gpusharing.timekeeper.database;

import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.support.SqlArrayValue;

/**
 * Binds a list of rows as one array for each column, for {@code unnest(:name::type[], …)}. The
 * driver sends arrays of texts, numbers and flags as they are, and makes one long literal of any
 * other, letter by letter; so identifiers and instants go as texts, and the statement names the
 * type.
 */
public final class ArrayColumns<T> {

    private final ClusterStatement statement;
    private final List<T> rows;

    ArrayColumns(ClusterStatement statement, List<T> rows) {
        this.statement = statement;
        this.rows = rows;
    }

    public ArrayColumns<T> uuid(String name, Function<T, @Nullable UUID> column) {
        return text(
                name,
                row -> {
                    UUID uuid = column.apply(row);
                    return uuid == null ? null : uuid.toString();
                });
    }

    public ArrayColumns<T> text(String name, Function<T, @Nullable String> column) {
        return add(
                name,
                "text",
                rows.stream()
                        .map(column)
                        .map(it -> it == null ? null : ClusterStatement.storable(it))
                        .toArray(String[]::new));
    }

    public ArrayColumns<T> number(String name, ToLongFunction<T> column) {
        return add(name, "int8", rows.stream().map(column::applyAsLong).toArray(Long[]::new));
    }

    public ArrayColumns<T> flag(String name, Function<T, Boolean> column) {
        return add(name, "bool", rows.stream().map(column).toArray(Boolean[]::new));
    }

    /** As text in UTC: the driver would write a timestamp in the JVM's own zone. */
    public ArrayColumns<T> instant(String name, Function<T, @Nullable Instant> column) {
        return text(name, row -> Timestamps.text(column.apply(row)));
    }

    /**
     * Runs the statement, if there are any rows.
     *
     * @return how many it has written
     */
    public int update() {
        return rows.isEmpty() ? 0 : statement.update();
    }

    /** The statement with its columns. */
    public ClusterStatement statement() {
        return statement;
    }

    private ArrayColumns<T> add(String name, String type, Object[] values) {
        statement.param(name, new SqlArrayValue(type, values));
        return this;
    }
}
