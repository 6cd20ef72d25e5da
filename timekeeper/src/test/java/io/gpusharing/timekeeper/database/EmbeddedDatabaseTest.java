package io.gpusharing.timekeeper.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.simple.JdbcClient;

class EmbeddedDatabaseTest {

    @TempDir Path folder;

    private EmbeddedDatabase database;
    private HikariDataSource pool;
    private JdbcClient jdbc;

    @BeforeEach
    void open() {
        database = EmbeddedDatabase.open(folder.resolve("database"));
        pool = new HikariDataSource();
        pool.setJdbcUrl(database.url());
        pool.setUsername(database.user());
        pool.setMaximumPoolSize(2);
        jdbc = JdbcClient.create(pool);
    }

    @AfterEach
    void close() throws IOException {
        pool.close();
        database.close();
    }

    @Test
    void isDurable() {
        assertThat(setting("fsync")).isEqualTo("on");
        assertThat(setting("synchronous_commit")).isEqualTo("on");
        assertThat(setting("full_page_writes")).isEqualTo("on");
    }

    @Test
    void comesBackByItselfWithAllThatWasCommittedWhenItIsKilled() throws IOException {
        jdbc.sql("create table kept (number int)").update();
        for (int number = 1; number <= 2; number++) {
            jdbc.sql("insert into kept values (?)").param(number).update();

            kill();

            await().atMost(Duration.ofSeconds(20)).ignoreExceptions().until(() -> count() > 0);
            assertThat(count()).isEqualTo(number);
        }
        assertThat(setting("fsync")).as("the same options as before").isEqualTo("on");
    }

    @Test
    void staysDownWhenItIsClosed() throws IOException {
        ProcessHandle server = running().process();
        pool.close();

        database.close();

        await().atMost(Duration.ofSeconds(10)).until(() -> !server.isAlive());
        assertThat(Postmaster.runningOn(folder.resolve("database"))).isEmpty();
    }

    private void kill() throws IOException {
        ProcessHandle server = running().process();
        server.destroyForcibly();
        server.onExit().join();
    }

    private Postmaster running() throws IOException {
        return Postmaster.runningOn(folder.resolve("database")).orElseThrow();
    }

    private int count() {
        return jdbc.sql("select count(*) from kept").query(Integer.class).single();
    }

    private String setting(String name) {
        return jdbc.sql("select current_setting(?)").param(name).query(String.class).single();
    }
}
