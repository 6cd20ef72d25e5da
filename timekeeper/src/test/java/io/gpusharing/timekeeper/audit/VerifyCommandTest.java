package io.gpusharing.timekeeper.audit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.gpusharing.timekeeper.testing.TestDatabase;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command as it is typed, on a real database, with logs as an API server writes them. */
class VerifyCommandTest {

    private static final String NODE =
            event(
                    "nodes",
                    "10:00:00",
                    "{\"kind\":\"Node\",\"metadata\":{\"name\":\"gpu-1\",\"uid\":\"n\",\"resourceVersion\":\"1\"},"
                            + "\"status\":{\"capacity\":{\"tencent.com/vcuda-core\":\"200\",\"tencent.com/vcuda-memory\":\"120\"}}}");

    @TempDir Path folder;
    private final TestDatabase database = TestDatabase.create();
    private final UUID pod = UUID.randomUUID();
    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();
    private InputStream typed = InputStream.nullInputStream();

    /** Half a GPU from 10:00:00 to 10:20:00. */
    VerifyCommandTest() {
        database.jdbc()
                .sql(
                        "insert into cluster (id, metering_start) values ('default', '2026-03-01T10:00:00Z')")
                .update();
        database.jdbc()
                .sql(
                        """
                        insert into pod_allocation (cluster, pod_uid, namespace, name, node, budget, share_rate, rate,
                            compute_part, memory_part, compute_numerator, compute_denominator, memory_numerator, memory_denominator,
                            share_known, held_from, posted_until, charged_until, held_until)
                        values ('default', ?, 'team-a', 'trainer', 'gpu-1', 'a', 500000, 500000, 500000, 250000, 1, 2, 1, 4, true,
                            '2026-03-01T10:00:00Z', '2026-03-01T10:20:00Z', '2026-03-01T10:20:00Z', '2026-03-01T10:20:00Z')
                        """)
                .param(pod)
                .update();
        database.jdbc()
                .sql(
                        """
                        insert into charge (cluster, pod_uid, charged_from, charged_to, namespace, budget, rate, amount)
                        values ('default', ?, '2026-03-01T10:00:00Z', '2026-03-01T10:20:00Z', 'team-a', 'a', 500000, 600000000)
                        """)
                .param(pod)
                .update();
        database.jdbc()
                .sql(
                        "insert into usage_hour values ('default', 'a', 'team-a', '2026-03-01T10:00:00Z', 600000000)")
                .update();
    }

    private int verify(String... arguments) throws SQLException {
        var all = new ArrayList<>(List.of(arguments));
        try (Connection connection = database.dataSource().getConnection()) {
            all.add("--spring.datasource.url=" + connection.getMetaData().getURL());
            all.add("--spring.datasource.username=" + connection.getMetaData().getUserName());
        }
        printed.reset();
        return VerifyCommand.run(
                all, typed, new PrintStream(printed, true, StandardCharsets.UTF_8));
    }

    private String said() {
        return printed.toString(StandardCharsets.UTF_8);
    }

    private String log(String... lines) throws IOException {
        return Files.write(folder.resolve("audit.log"), List.of(lines)).toString();
    }

    private String bound() {
        return pod("10:00:00", 2, "\"phase\":\"Running\"");
    }

    private String ended(String at) {
        return pod(
                at,
                3,
                "\"phase\":\"Succeeded\",\"containerStatuses\":[{\"state\":{\"terminated\":{\"finishedAt\":\"2026-03-01T"
                        + at
                        + "Z\"}}}]");
    }

    private String pod(String at, int version, String status) {
        return event(
                "pods",
                at,
                "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"trainer\",\"namespace\":\"team-a\",\"uid\":\"%s\",\"resourceVersion\":\"%d\"},\"spec\":{\"nodeName\":\"gpu-1\",\"containers\":[{\"resources\":{\"limits\":{\"tencent.com/vcuda-core\":\"50\",\"tencent.com/vcuda-memory\":\"15\"}}}]},\"status\":{\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"True\",\"lastTransitionTime\":\"2026-03-01T10:00:00Z\"}],%s}}"
                        .formatted(pod, version, status));
    }

    private static String event(String resource, String at, String answer) {
        return "{\"stage\":\"ResponseComplete\",\"stageTimestamp\":\"2026-03-01T%s.000000Z\",\"requestURI\":\"/\",\"objectRef\":{\"resource\":\"%s\"},\"responseStatus\":{\"code\":200},\"responseObject\":%s}"
                .formatted(at, resource, answer);
    }

    private static String lease(String at) {
        return event("leases", at, "{}");
    }

    @Test
    void aSoundLedgerIsCalledSound() throws Exception {
        assertThat(verify()).as(said()).isEqualTo(VerifyCommand.EQUAL);
        assertThat(said()).contains("1 entries, 0 differences");
    }

    @Test
    void whatTheLastHourlyVerificationCouldNotReadIsPrintedAndIsNoDifference() throws Exception {
        database.jdbc()
                .sql(
                        """
                        insert into verification (cluster, report) values ('default',
                            '{"at": "2026-03-01T10:30:00Z", "entries": 1, "differences": [],
                              "unreadable": [{"kind": "Pod", "count": 7, "some": ["team-a/p: why", "team-b/q: why"]}]}')
                        """)
                .update();

        assertThat(verify()).as(said()).isEqualTo(VerifyCommand.EQUAL);
        assertThat(said())
                .contains("UNREADABLE Pod, 7 at 2026-03-01T10:30:00Z: team-a/p: why; team-b/q: why")
                .contains("0 differences");
    }

    @Test
    void aCorruptedRowIsPrintedAndEndsInOne() throws Exception {
        database.jdbc().sql("update charge set amount = amount + 1").update();

        assertThat(verify()).isEqualTo(VerifyCommand.DIFFERENT);
        assertThat(said())
                .contains("DIFFERENT amount " + pod, "stored 600000001, recomputed 600000000")
                .contains("DIFFERENT hour a team-a")
                .contains("DIFFERENT allocation " + pod)
                .contains("3 differences");
    }

    @Test
    void aPeriodWithAWrongRolloverIsPrinted() throws Exception {
        database.jdbc()
                .sql(
                        """
                        insert into budget_period (cluster, budget, period_start, counted_from, rolled_over)
                        values ('default', 'a', '2026-03-01T00:00:00Z', '2026-03-01T00:00:00Z', 7)
                        """)
                .update();

        assertThat(verify()).isEqualTo(VerifyCommand.DIFFERENT);
        assertThat(said())
                .contains(
                        "DIFFERENT period a 2026-03-01T00:00:00Z rolled_over: stored 7, recomputed 0");
    }

    @Test
    void theLedgerEqualsTheAuditLogToTheMicroGpuSecond() throws Exception {
        String log = log(NODE, bound(), ended("10:20:00"));

        assertThat(verify("--audit-log", log, "--silence", "PT1H"))
                .as(said())
                .isEqualTo(VerifyCommand.EQUAL);
        assertThat(said())
                .contains(
                        "1 pods equal to the micro-GPU-second",
                        "0 of them shown to be on the right budget",
                        "0 DIFFERENT");
    }

    @Test
    void aLogMayComeOverStandardInput() throws Exception {
        typed = Files.newInputStream(Path.of(log(NODE, bound(), ended("10:20:00"))));

        assertThat(verify("--audit-log", "-", "--silence", "PT1H"))
                .as(said())
                .isEqualTo(VerifyCommand.EQUAL);
    }

    @Test
    void aPartOfTheSpanIsRecountedAsExactly() throws Exception {
        String log = log(NODE, bound(), ended("10:20:00"));

        assertThat(
                        verify(
                                "--audit-log=" + log,
                                "--silence=PT1H",
                                "--from=2026-03-01T10:03:00Z",
                                "--to=2026-03-01T10:07:01Z"))
                .as(said())
                .isEqualTo(VerifyCommand.EQUAL);
    }

    @Test
    void aSpanThatEndsBeforeItBeginsIsNoSpan() throws Exception {
        String log = log(NODE, bound(), ended("10:20:00"));

        assertThat(
                        verify(
                                "--audit-log=" + log,
                                "--from=2026-03-01T10:07:00Z",
                                "--to=2026-03-01T10:03:00Z"))
                .isEqualTo(VerifyCommand.USAGE);
        assertThat(said())
                .contains("--from 2026-03-01T10:07:00Z is not before --to 2026-03-01T10:03:00Z");
    }

    @Test
    void aBillThatDiffersIsShownWithBothNumbers() throws Exception {
        String log = log(NODE, bound(), ended("10:19:59"), lease("10:20:00"));

        assertThat(verify("--audit-log", log, "--silence", "PT1H"))
                .isEqualTo(VerifyCommand.DIFFERENT);
        assertThat(said())
                .contains(
                        "DIFFERENT team-a/trainer",
                        "ledger 600000000 micro-GPU-seconds, recount 599500000");
    }

    @Test
    void aPodThatIsMissingFromTheLedgerIsADifference() throws Exception {
        String log = log(NODE, bound(), ended("10:20:00"));
        database.jdbc().sql("delete from charge").update();
        database.jdbc().sql("delete from pod_allocation").update();

        assertThat(verify("--audit-log", log, "--silence", "PT1H"))
                .isEqualTo(VerifyCommand.DIFFERENT);
        assertThat(said()).contains("the ledger does not know this pod");
    }

    @Test
    void aTruncatedLogIsNoProofAndNoDifference() throws Exception {
        String end = ended("10:20:00");
        String log = log(NODE, bound(), end.substring(0, end.length() / 2));

        assertThat(verify("--audit-log", log, "--to", "2026-03-01T10:30:00Z"))
                .as(said())
                .isEqualTo(VerifyCommand.INCOMPLETE);
        assertThat(said())
                .contains("INCOMPLETE the log is truncated: its last line, 3, is not whole")
                .contains("NOT_RECOUNTED team-a/trainer", "before the pod did")
                .contains("0 DIFFERENT");
    }

    @Test
    void aMissingSpanIsNamedAndWhatEndedInItIsNotJudged() throws Exception {
        String log = log(NODE, bound(), lease("10:10:00"), lease("10:40:00"));

        assertThat(verify("--audit-log", log, "--silence", "PT10M"))
                .as(said())
                .isEqualTo(VerifyCommand.INCOMPLETE);
        assertThat(said())
                .contains(
                        "INCOMPLETE the log has nothing between 2026-03-01T10:10:00Z and 2026-03-01T10:40:00Z")
                .contains("NOT_RECOUNTED team-a/trainer");
    }

    @Test
    void anInvalidCommandPrintsItsUsage() throws Exception {
        assertThat(verify("--audit-log", folder.resolve("none").toString()))
                .isEqualTo(VerifyCommand.USAGE);
        assertThat(said()).contains("Cannot read the audit log");
        assertThat(verify("--from=2026-03-01T10:03:00Z")).isEqualTo(VerifyCommand.USAGE);
        assertThat(verify("--audit-log", log(NODE), "--to=yesterday"))
                .isEqualTo(VerifyCommand.USAGE);
        assertThat(said()).contains("Instants are written");
        assertThat(verify("--audit-logg", "/nope")).isEqualTo(VerifyCommand.USAGE);
        assertThat(said()).contains("no option --audit-logg", "--audit-log FILE");
        assertThat(verify("--bogus=1")).isEqualTo(VerifyCommand.USAGE);
        assertThat(verify("audit.log")).isEqualTo(VerifyCommand.USAGE);
    }

    @Test
    void withoutADatabaseItSaysInOneLineWhichOneIsMissing() {
        printed.reset();
        int none =
                VerifyCommand.run(
                        List.of(), typed, new PrintStream(printed, true, StandardCharsets.UTF_8));
        assertThat(none).isEqualTo(VerifyCommand.USAGE);
        assertThat(said().lines()).singleElement().asString().contains("SPRING_DATASOURCE_URL");

        printed.reset();
        int away =
                VerifyCommand.run(
                        List.of("--spring.datasource.url=jdbc:postgresql://127.0.0.1:1/none"),
                        typed,
                        new PrintStream(printed, true, StandardCharsets.UTF_8));
        assertThat(away).isEqualTo(VerifyCommand.USAGE);
        assertThat(said().lines()).singleElement().asString().contains("127.0.0.1:1");
    }

    @Test
    void theFutureIsNotCompared() throws Exception {
        String log = log(NODE, bound(), ended("10:20:00"));

        verify("--audit-log", log, "--to", "2999-01-01T00:00:00Z");

        assertThat(said()).contains("is in the future").doesNotContain("Z to 2999");
    }

    @Test
    void itLeavesNoConnectionBehind() throws Exception {
        verify();

        assertThat(((HikariDataSource) database.dataSource()).isRunning()).isTrue();
        // A server process ends a moment after its connection.
        await().until(() -> connections() <= 2);
    }

    private long connections() {
        return database.jdbc()
                .sql(
                        "select count(*) from pg_stat_activity where datname = current_database() and application_name = 'PostgreSQL JDBC Driver'")
                .query(Long.class)
                .single();
    }
}
