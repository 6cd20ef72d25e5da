package io.gpusharing.timekeeper.usage.intake;

import static io.gpusharing.timekeeper.usage.intake.Reports.GPU;
import static io.gpusharing.timekeeper.usage.intake.Reports.NOON;
import static io.gpusharing.timekeeper.usage.intake.Reports.PROPERTIES;
import static io.gpusharing.timekeeper.usage.intake.Reports.agent;
import static io.gpusharing.timekeeper.usage.intake.Reports.agentOn;
import static io.gpusharing.timekeeper.usage.intake.Reports.pod;
import static io.gpusharing.timekeeper.usage.intake.Reports.sent;
import static io.gpusharing.timekeeper.usage.intake.Reports.sidecar;
import static io.gpusharing.timekeeper.usage.intake.Reports.use;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.gpusharing.timekeeper.usage.UsageReport;
import io.gpusharing.timekeeper.usage.UsageReport.PodUse;
import io.gpusharing.timekeeper.usage.intake.Outcome.Accepted;
import io.gpusharing.timekeeper.usage.intake.Outcome.Duplicate;
import io.gpusharing.timekeeper.usage.intake.Outcome.Refusal;
import io.gpusharing.timekeeper.usage.intake.Outcome.Refused;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.dao.ConcurrencyFailureException;

class UsageReportRepositoryTest {

    private static final Duration A_MINUTE = Duration.ofMinutes(1);

    private final UUID uid = UUID.randomUUID();
    private final UUID run = UUID.randomUUID();
    private final UsageReportRepository reports = reports("c1");

    private static UsageReportRepository reports(String cluster) {
        return new UsageReportRepository(
                ReportDatabase.rows(cluster), ReportDatabase.transaction(), PROPERTIES);
    }

    private Outcome post(UsageReport report) {
        return reports.post(List.of(sent(report, pod(uid), A_MINUTE))).getFirst();
    }

    private static long busy(UUID pod) {
        Long sum =
                ReportDatabase.jdbc()
                        .queryForObject(
                                "select coalesce(sum(gpu_us), 0)::bigint from usage_counter where pod_uid = ?",
                                Long.class,
                                pod);
        return sum == null ? 0 : sum;
    }

    static LongStream seeds() {
        return LongStream.rangeClosed(1, 20);
    }

    @Test
    void storesWhatItAcknowledges() {
        assertThat(post(sidecar(run, 1, uid, use(10, 30)))).isEqualTo(new Accepted(false));

        assertThat(busy(uid)).isEqualTo(10_000_000);
    }

    @Test
    void recognisesAReportThatComesTwice() {
        post(sidecar(run, 1, uid, use(10, 30)));

        assertThat(post(sidecar(run, 1, uid, use(10, 30)))).isEqualTo(new Duplicate(false));
        assertThat(busy(uid)).isEqualTo(10_000_000);
    }

    @Test
    void recognisesItAlsoWithinOneBatch() {
        Delivery delivery = sent(sidecar(run, 1, uid, use(10, 30)), pod(uid), A_MINUTE);

        assertThat(reports.post(List.of(delivery, delivery)))
                .containsExactly(new Accepted(false), new Duplicate(false));
    }

    @Test
    void refusesTheSameSequenceWithAnotherContent() {
        post(sidecar(run, 1, uid, use(10, 30)));

        Outcome outcome = post(sidecar(run, 1, uid, use(11, 30)));

        assertThat(((Refused) outcome).refusal()).isEqualTo(Refusal.CONFLICT);
        assertThat(busy(uid)).isEqualTo(10_000_000);
    }

    @Test
    void aReportConcurrentlyAcceptedByAnotherReplicaIsReadAgain() throws Exception {
        Delivery delivery = sent(sidecar(run, 1, uid, use(10, 30)), pod(uid), A_MINUTE);
        String other =
                "insert into usage_report values ('c1', '%s', '%s', 1, gen_random_uuid(), now())"
                        .formatted(uid, run);

        assertThatThrownBy(() -> postWhile(other, delivery))
                .hasCauseInstanceOf(ConcurrencyFailureException.class);

        assertThat(reports.post(List.of(delivery)))
                .singleElement()
                .extracting(it -> ((Refused) it).refusal())
                .isEqualTo(Refusal.CONFLICT);
    }

    @Test
    void concurrentCountsOfAnotherReplicaAreNotLost() throws Exception {
        String other =
                """
                insert into usage_counter values ('c1', '%s', '%s', 'Sidecar', '%s', 'DeviceSplit', 'why',
                    20000000, 7, 40000000, 3, 2, now(), '2030-01-01Z')
                """
                        .formatted(uid, run, GPU);

        postWhile(other, sent(sidecar(run, 1, uid, use(10, 30)), pod(uid), A_MINUTE));

        assertThat(
                        ReportDatabase.jdbc()
                                .queryForObject(
                                        """
                                        select concat_ws(' ', basis, basis_reason, gpu_us, memory_bs, covered_us, uncovered_us,
                                            sequence, extract(year from last_at)) from usage_counter where pod_uid = ?
                                        """,
                                        String.class,
                                        uid))
                .isEqualTo("DeviceSplit why 20000000 10000000000 40000000 3 2 2030");
    }

    /** Posts while another replica has written and not committed; it commits then. */
    private void postWhile(String written, Delivery delivery) throws Exception {
        try (Connection other = ReportDatabase.DATA_SOURCE.getConnection();
                var replica = Executors.newVirtualThreadPerTaskExecutor()) {
            other.setAutoCommit(false);
            other.createStatement().execute(written);
            Future<List<Outcome>> posted = replica.submit(() -> reports.post(List.of(delivery)));
            await().until(() ->
                    count(
                                    "pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'")
                            > 0);
            other.commit();
            posted.get();
        }
    }

    private static long count(String what) {
        Long count =
                ReportDatabase.jdbc().queryForObject("select count(*) from " + what, Long.class);
        return count == null ? 0 : count;
    }

    @Test
    void nobodyCanUseUpTheRunOfAnother() {
        UUID thief = UUID.randomUUID();
        reports.post(List.of(sent(sidecar(run, 1, thief, use(1, 30)), pod(thief), A_MINUTE)));

        assertThat(post(sidecar(run, 1, uid, use(10, 30)))).isEqualTo(new Accepted(false));
        assertThat(busy(uid)).isEqualTo(10_000_000);
    }

    @Test
    void oneForgedReportDoesNotHoldUpTheOthers() {
        UUID other = UUID.randomUUID();

        List<Outcome> outcomes =
                reports.post(
                        List.of(
                                sent(sidecar(run, 1, uid, use(1e6, 1e6)), pod(uid), A_MINUTE),
                                sent(sidecar(run, 1, other, use(10, 30)), pod(other), A_MINUTE)));

        assertThat(outcomes.getFirst()).isInstanceOf(Refused.class);
        assertThat(outcomes.getLast()).isInstanceOf(Accepted.class);
        assertThat(busy(uid)).isZero();
    }

    @Test
    void aForgedReportIsRefusedAsOftenAsItComes() {
        Delivery forged = sent(sidecar(run, 1, uid, use(1e6, 1e6)), pod(uid), A_MINUTE);

        assertThat(reports.post(List.of(forged, forged))).hasOnlyElementsOfType(Refused.class);
        assertThat(reports.post(List.of(forged))).hasOnlyElementsOfType(Refused.class);
    }

    @Test
    void remembersTheForgersAllowanceAcrossBatches() {
        post(sidecar(run, 1, uid, use(50, 60)));

        Outcome outcome = post(sidecar(UUID.randomUUID(), 1, uid, use(50, 60)));

        assertThat(((Refused) outcome).refusal()).isEqualTo(Refusal.IMPOSSIBLE_AMOUNT);
    }

    @Test
    void noNumberOfRunsMeasuresAPodForLongerThanItsLife() {
        post(sidecar(run, 1, uid, use(1, 60)));

        Outcome outcome = post(sidecar(UUID.randomUUID(), 1, uid, use(1, 60)));

        assertThat(((Refused) outcome).refusal()).isEqualTo(Refusal.IMPOSSIBLE_AMOUNT);
    }

    @Test
    void reportsOfAnotherClusterOnTheSameDatabaseCountForNothing() {
        post(sidecar(run, 1, uid, use(50, 60)));

        Delivery same = sent(sidecar(UUID.randomUUID(), 1, uid, use(50, 60)), pod(uid), A_MINUTE);

        assertThat(reports("c2").post(List.of(same))).containsExactly(new Accepted(false));
    }

    @Test
    void aHeartbeatIsEnoughWhileAnAgentMeasuresThePod() {
        UUID agentRun = UUID.randomUUID();
        reports.post(List.of(measured(agentRun, 1, A_MINUTE)));

        assertThat(post(sidecar(run, 1, uid, use(10, 30)))).isEqualTo(new Accepted(true));
        assertThat(heartbeat(2, 120)).isEqualTo(new Accepted(false));

        reports.post(List.of(measured(agentRun, 2, Duration.ofSeconds(125))));
        assertThat(heartbeat(3, 180)).isEqualTo(new Accepted(true));
    }

    private Delivery measured(UUID agentRun, long sequence, Duration afterNoon) {
        UsageReport report = agent(agentRun, sequence, new PodUse(uid, List.of(use(12, 40))));
        return new Delivery(
                agentOn("n1"),
                report,
                report.digest(),
                Map.of(uid, pod(uid)),
                NOON.plus(afterNoon));
    }

    private Outcome heartbeat(long sequence, int secondsAfterNoon) {
        Duration afterNoon = Duration.ofSeconds(secondsAfterNoon);
        return reports.post(
                        List.of(
                                sent(
                                        sidecar(run, sequence, uid, use(10, 30)),
                                        pod(uid),
                                        afterNoon)))
                .getFirst();
    }

    @Test
    void storesTheMaximumOfUnattributedUseThatARunReported() {
        UUID agentRun = UUID.randomUUID();

        reports.post(List.of(unattributed(agentRun, 4)));
        reports.post(List.of(unattributed(agentRun, 9), unattributed(agentRun, 7)));
        reports.post(List.of(unattributed(agentRun, 5)));

        assertThat(
                        ReportDatabase.jdbc()
                                .queryForObject(
                                        "select gpu_us from usage_unattributed where run = ? and device = ?",
                                        Long.class,
                                        agentRun,
                                        GPU))
                .isEqualTo(9);
    }

    private static Delivery unattributed(UUID run, long sequence) {
        UsageReport report = agent(run, sequence);
        return new Delivery(agentOn("n9"), report, report.digest(), Map.of(), NOON);
    }

    @Test
    void forgetsOldReportsButNotTheirCounters() {
        UsageReportRepository old = reports("forgetful");
        UsageReportRepository neighbour = reports("neighbour");
        Delivery theirs = sent(sidecar(run, 1, uid, use(10, 30)), pod(uid), A_MINUTE);
        neighbour.post(List.of(theirs));
        old.post(List.of(sent(sidecar(run, 1, uid, use(10, 30)), pod(uid), A_MINUTE)));

        assertThat(old.forgetReportsBefore(NOON.plusSeconds(3600))).isOne();
        assertThat(old.post(List.of(sent(sidecar(run, 1, uid, use(10, 30)), pod(uid), A_MINUTE))))
                .containsExactly(new Accepted(false));
        assertThat(busy(uid)).as("in both clusters").isEqualTo(2 * 10_000_000);
        assertThat(neighbour.post(List.of(theirs))).containsExactly(new Duplicate(false));
    }

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void anyOrderRepetitionAndConcurrencyGivesTheSameSums(long seed) throws Exception {
        Random random = new Random(seed);
        List<UUID> pods = List.of(new UUID(seed, 1), new UUID(seed, 2), new UUID(seed, 3));
        String cluster = "seed-" + seed + "-" + UUID.randomUUID();
        var deliveries = new ArrayList<Delivery>();
        long expected = 0;
        for (UUID pod : pods) {
            for (int r = 0; r < 2; r++) {
                UUID someRun = UUID.randomUUID();
                long busy = 0;
                for (int sequence = 1; sequence <= 6; sequence++) {
                    busy += random.nextInt(5);
                    deliveries.add(
                            sent(
                                    sidecar(
                                            someRun,
                                            sequence,
                                            pod,
                                            use((double) busy, sequence * 5.0)),
                                    pod(pod),
                                    A_MINUTE));
                }
                expected += busy * 1_000_000;
            }
        }
        deliveries.addAll(deliveries.subList(0, random.nextInt(deliveries.size())));
        Collections.shuffle(deliveries, random);

        // Two replicas, each with batches of its own, on one database.
        try (var replicas = Executors.newFixedThreadPool(2)) {
            var work = new ArrayList<Callable<Void>>();
            for (int from = 0; from < deliveries.size(); ) {
                int to = Math.min(deliveries.size(), from + 1 + random.nextInt(8));
                List<Delivery> batch = List.copyOf(deliveries.subList(from, to));
                work.add(() -> postUntilTaken(reports(cluster), batch));
                from = to;
            }
            for (Future<Void> done : replicas.invokeAll(work)) {
                done.get();
            }
        }

        assertThat(
                        ReportDatabase.jdbc()
                                .queryForObject(
                                        "select concat_ws(' ', sum(gpu_us), sum(covered_us), sum(sequence)) from usage_counter where cluster = ?",
                                        String.class,
                                        cluster))
                .isEqualTo("%d %d %d", expected, 6 * 30_000_000L, 6 * 6);
    }

    @Test
    void tenThousandReportsAtOnceAfterAnOutageAreStoredOnceEach() {
        String cluster = "outage-" + UUID.randomUUID();
        var waiting = new ArrayList<Delivery>();
        for (int i = 0; i < 500; i++) {
            UUID pod = UUID.randomUUID();
            UUID someRun = UUID.randomUUID();
            for (int sequence = 1; sequence <= 20; sequence++) {
                waiting.add(
                        sent(
                                sidecar(someRun, sequence, pod, use(sequence, sequence * 2.0)),
                                pod(pod),
                                A_MINUTE));
            }
        }
        Collections.shuffle(waiting, new Random(1));

        for (int from = 0; from < waiting.size(); from += 500) {
            List<Delivery> batch = waiting.subList(from, from + 500);
            assertThat(reports(cluster).post(batch)).noneMatch(Refused.class::isInstance);
            // The answer was lost, and every other report is sent again.
            if (from % 1_000 == 0) {
                assertThat(reports(cluster).post(batch)).allMatch(Duplicate.class::isInstance);
            }
        }

        assertThat(
                        ReportDatabase.jdbc()
                                .queryForObject(
                                        "select sum(gpu_us)::bigint from usage_counter where cluster = ?",
                                        Long.class,
                                        cluster))
                .isEqualTo(500 * 20 * 1_000_000L);
    }

    private static Void postUntilTaken(UsageReportRepository reports, List<Delivery> batch) {
        while (true) {
            try {
                assertThat(reports.post(batch)).noneMatch(Refused.class::isInstance);
                return null;
            } catch (ConcurrencyFailureException e) {
                // As the timekeeper does: the same batch again.
            }
        }
    }
}
