package io.gpusharing.timekeeper.database;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * The rows of one cluster. Each table says of which cluster a row is, so each statement names it:
 * {@code :cluster} is bound already.
 */
@Component
public final class ClusterDatabase {

    private final JdbcClient jdbc;
    private final String cluster;

    /**
     * @param cluster what the rows call it; may not change once there are any
     */
    public ClusterDatabase(
            JdbcClient jdbc, @Value("${gpusharing.cluster.id:default}") String cluster) {
        if (cluster.isBlank()) {
            throw new IllegalArgumentException("gpusharing.cluster.id is blank: name the cluster");
        }
        this.jdbc = jdbc;
        this.cluster = cluster;
    }

    /** A statement of which {@code :cluster} is bound. */
    public ClusterStatement sql(String sql) {
        return new ClusterStatement(jdbc.sql(sql)).param("cluster", cluster);
    }

    String cluster() {
        return cluster;
    }
}
