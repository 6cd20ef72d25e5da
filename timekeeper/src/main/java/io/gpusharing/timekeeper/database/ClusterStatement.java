package io.gpusharing.timekeeper.database;

import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.RowCallbackHandler;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.simple.JdbcClient.MappedQuerySpec;
import org.springframework.jdbc.core.simple.JdbcClient.StatementSpec;
import org.springframework.jdbc.support.SqlArrayValue;

/**
 * A statement with named parameters. It binds instants as points in time, whatever the zone of the
 * JVM: months that PostgreSQL rules out by them are then left out when a question is planned, where
 * text would have to be read first. {@link Instant#MAX} is PostgreSQL's {@code infinity}.
 */
public final class ClusterStatement {

    private final StatementSpec statement;

    ClusterStatement(StatementSpec statement) {
        this.statement = statement;
    }

    public ClusterStatement param(String name, @Nullable Object value) {
        statement.param(
                name,
                switch (value) {
                    case Instant instant -> Timestamps.parameter(instant);
                    case String text -> storable(text);
                    case null, default -> value;
                });
        return this;
    }

    /**
     * What people write: no database text holds the character 0, and the API server lets it pass in
     * every field without a pattern. One such text would stop all that is written with it.
     */
    static String storable(String text) {
        return text.replace('\0', '\uFFFD');
    }

    public ClusterStatement params(Map<String, ?> values) {
        values.forEach(this::param);
        return this;
    }

    /** An array, for {@code any(:name)}. */
    public ClusterStatement uuids(String name, Collection<UUID> values) {
        statement.param(name, new SqlArrayValue("uuid", values.toArray()));
        return this;
    }

    /** The same of texts. */
    public ClusterStatement texts(String name, Collection<String> values) {
        statement.param(
                name,
                new SqlArrayValue(
                        "text", values.stream().map(ClusterStatement::storable).toArray()));
        return this;
    }

    /** Rows whose columns are bound next, as arrays. */
    public <T> ArrayColumns<T> rows(List<T> rows) {
        return new ArrayColumns<>(this, rows);
    }

    /** The answer has no more rows than this. */
    public ClusterStatement maxRows(int rows) {
        return new ClusterStatement(statement.withMaxRows(rows));
    }

    public <T extends @Nullable Object> MappedQuerySpec<T> query(RowMapper<T> mapper) {
        return statement.query(mapper);
    }

    public <T> MappedQuerySpec<@Nullable T> query(Class<T> type) {
        return statement.query(type);
    }

    public void query(RowCallbackHandler handler) {
        statement.query(handler);
    }

    /**
     * Writes.
     *
     * @return how many rows
     */
    public int update() {
        return statement.update();
    }
}
