package io.gpusharing.timekeeper.testing;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.postgresql.PostgreSQLContainer;

/** The PostgreSQL of this JVM's tests. */
record TestServer(String host, int port, String user, String password) {

    /** Pools of finished tests keep their connections for half a minute, in which others begin. */
    static final String CONNECTIONS = "1000";

    static final TestServer INSTANCE = start();

    private static TestServer start() {
        boolean docker = DockerClientFactory.instance().isDockerAvailable();
        TestServer server = docker ? container() : embedded();
        System.out.printf(
                "tests use PostgreSQL on port %d, %s%n",
                server.port, docker ? "in a container" : "embedded");
        return server;
    }

    private static TestServer container() {
        var container = new PostgreSQLContainer("postgres:18");
        container.setCommand("postgres", "-c", "max_connections=" + CONNECTIONS, "-c", "fsync=off");
        container.start();
        return new TestServer(
                container.getHost(),
                container.getMappedPort(5432),
                container.getUsername(),
                container.getPassword());
    }

    private static TestServer embedded() {
        return new TestServer(
                "127.0.0.1", ForgetfulServer.start(CONNECTIONS).getPort(), "postgres", "");
    }

    DataSource connect(String database) {
        var source = new PGSimpleDataSource();
        source.setServerNames(new String[] {host});
        source.setPortNumbers(new int[] {port});
        source.setDatabaseName(database);
        source.setUser(user);
        source.setPassword(password);
        return source;
    }

    /** Runs a statement on the server, outside the tests' own databases. */
    void execute(String sql) {
        try (Connection connection = connect("postgres").getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
