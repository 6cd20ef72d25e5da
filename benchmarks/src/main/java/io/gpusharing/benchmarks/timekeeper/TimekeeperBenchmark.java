package io.gpusharing.benchmarks.timekeeper;

import io.gpusharing.web.TrustAnchors;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.YearMonth;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import javax.net.ssl.SSLContext;
import tools.jackson.databind.json.JsonMapper;

/**
 * The measurements of {@code benchmarks/timekeeper}: arguments are {@code image folder result parts
 * seconds}, where parts are of {@code churn}, {@code edits}, {@code hour}, {@code reports}, {@code
 * agents}, {@code statement}.
 */
public final class TimekeeperBenchmark {

    private static final int RUNNING = Integer.getInteger("running", 10_000);
    private static final int CONNECTIONS = 1_000;
    private static final int REST_SECONDS = 60;

    private final Path image;
    private final Path folder;
    private final int seconds;
    private final Tokens tokens = new Tokens();
    private final Map<String, Object> results = new LinkedHashMap<>();

    private TimekeeperBenchmark(Path image, Path folder, int seconds) {
        this.image = image;
        this.folder = folder;
        this.seconds = seconds;
    }

    /** Measures, and writes what was seen. */
    public static void main(String[] arguments) {
        try {
            measure(arguments);
            System.exit(0);
        } catch (Exception e) {
            e.printStackTrace();
            // Servers of the benchmark's own would keep it from ending.
            System.exit(1);
        }
    }

    private static void measure(String[] arguments) throws Exception {
        var benchmark =
                new TimekeeperBenchmark(
                        Path.of(arguments[0]),
                        Path.of(arguments[1]),
                        Integer.parseInt(arguments[4]));
        Set<String> parts = Set.of(arguments[3].split(",", -1));
        benchmark.results.put("at", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
        benchmark.results.put("processors", Runtime.getRuntime().availableProcessors());
        benchmark.results.put("java", Runtime.version().toString());
        benchmark.results.put("timekeeperOptions", options(Path.of(arguments[0])));
        for (String part : List.of("churn", "edits", "hour", "reports", "agents", "statement")) {
            if (parts.contains(part)) {
                benchmark.measure(part);
                Files.writeString(
                        Path.of(arguments[2]),
                        new JsonMapper()
                                .writerWithDefaultPrettyPrinter()
                                .writeValueAsString(benchmark.results));
            }
        }
    }

    private static String options(Path image) throws IOException {
        return Files.readAllLines(image.resolve("jvm.options")).stream()
                .filter(line -> line.startsWith("-"))
                .collect(Collectors.joining(" ", "", " " + System.getProperty("javaOptions", "")));
    }

    private void measure(String part) throws Exception {
        Path dir = Files.createDirectories(folder.resolve(part));
        double load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
        try (var cluster = new FakeApiServer(tokens.jwks(), dir)) {
            Map<String, Object> result =
                    switch (part) {
                        case "churn" -> churn(cluster, dir);
                        case "edits" -> edits(cluster, dir);
                        case "hour" -> hour(cluster, dir);
                        case "reports" -> reports(cluster, dir);
                        case "agents" -> agents(cluster, dir);
                        default -> statement(cluster);
                    };
            result.put("load_before", round(load));
            results.put(part, result);
            System.out.println(part + ": " + result);
        }
    }

    private Map<String, Object> churn(FakeApiServer cluster, Path dir) throws Exception {
        try (Subject subject = start(cluster, dir, Map.of())) {
            subject.awaitReady();
            awaitWatch(cluster);
            int rate = Integer.getInteger("rate", 500);
            // So that what is measured is not the JVM's first minute.
            var warm = new ChurnLoad(cluster, subject, rate, Math.min(20, seconds), 1_000);
            warm.run(5_000_000);
            long first = 1_000 + rate * (Math.min(20L, seconds) + 10) * 5 + 100;
            long wal = wal(subject);
            var load = new ChurnLoad(cluster, subject, rate, seconds, first);
            Map<String, Object> result = load.run(0);
            result.put("walBytesPerPod", (wal(subject) - wal) / (rate * (long) seconds));
            result.put("durability", subject.durability());
            result.put("residentMiB", mebibytes(subject.resident()));
            result.put("mostResidentMiB", mebibytes(subject.mostResident()));
            result.put("statusWrites", cluster.statusWrites());
            return result;
        }
    }

    /** What it costs to do nothing, and to follow what administrators write. */
    private Map<String, Object> edits(FakeApiServer cluster, Path dir) throws Exception {
        present(cluster);
        try (Subject subject = start(cluster, dir, Map.of())) {
            subject.awaitReady();
            subject.await("select count(*) from budget_terms", MeteredPod.TEAMS);
            awaitRest(cluster);
            var result = new LinkedHashMap<String, Object>();
            result.put("budgets", MeteredPod.TEAMS);
            result.put("runningPods", RUNNING);
            double cpu = subject.cpuSeconds();
            long writes = cluster.statusWrites();
            Thread.sleep(Duration.ofSeconds(REST_SECONDS));
            result.put("coresAtRest", rounded((subject.cpuSeconds() - cpu) / REST_SECONDS));
            result.put("statusWritesAtRest", cluster.statusWrites() - writes);
            int rate = Integer.getInteger("editRate", 100);
            // Not a reading: the first edits of a process are slow.
            new EditLoad(cluster, subject, 10, 10, 2).run();
            result.putAll(new EditLoad(cluster, subject, rate, Math.min(40, seconds), 1_000).run());
            result.put("residentMiB", mebibytes(subject.resident()));
            return result;
        }
    }

    /**
     * After a start all statuses are written, some of them a second; those of budgets whose pods
     * run are written for ever.
     */
    private static void awaitRest(FakeApiServer cluster) throws InterruptedException {
        long before = -1;
        for (int i = 0; i < 20 && cluster.statusWrites() > before; i++) {
            before = cluster.statusWrites();
            Thread.sleep(Duration.ofSeconds(15));
        }
    }

    /** An hour is caught up at the start, the next one is closed a minute later. */
    private Map<String, Object> hour(FakeApiServer cluster, Path dir) throws Exception {
        Instant hour = Instant.now().truncatedTo(ChronoUnit.HOURS);
        Instant scheduled = hour.minus(Duration.ofHours(2));
        run10000(cluster, dir, scheduled);

        Instant closes = Instant.now().plusSeconds(75);
        String after = Duration.between(hour, closes).toString();
        long started = System.nanoTime();
        try (Subject subject = start(cluster, dir, Map.of("GPUSHARING_LEDGER_HOURCLOSES", after))) {
            subject.awaitReady();
            double toReady = (System.nanoTime() - started) / 1e9;
            double cpuToReady = subject.cpuSeconds();
            awaitCharged(subject, hour.minus(Duration.ofHours(1)));
            double toCaughtUp = (System.nanoTime() - started) / 1e9;
            var result = new LinkedHashMap<String, Object>();
            result.put("runningPods", RUNNING);
            result.put("startToReadySeconds", round(toReady));
            result.put("startToReadyCpuSeconds", round(cpuToReady));
            result.put("startToCaughtUpSeconds", round(toCaughtUp));
            result.put(
                    "caughtUpExactly", exact(subject, scheduled, hour.minus(Duration.ofHours(1))));
            result.put("residentMiBAfterStart", mebibytes(subject.resident()));

            // A checkpoint now, so that its full pages are not mistaken for the hour's.
            subject.execute("checkpoint");
            subject.execute("select pg_stat_reset()");
            Thread.sleep(Math.max(0, Duration.between(Instant.now(), closes).toMillis() - 3_000));
            long before = wal(subject);
            awaitCharged(subject, hour);
            double took = Duration.between(closes, Instant.now()).toMillis() / 1e3;
            result.put("hourClosedSecondsAfterItWasDue", took);
            result.put("walBytesPerPodHour", (wal(subject) - before) / RUNNING);
            result.put("hourClosedExactly", exact(subject, scheduled, hour));
            result.put("residentMiB", mebibytes(subject.resident()));
            result.put("mostResidentMiB", mebibytes(subject.mostResident()));
            result.put("durability", subject.durability());
            return result;
        }
    }

    /** Makes the rows of pods that run since an instant, none of whose hours is posted. */
    private void run10000(FakeApiServer cluster, Path dir, Instant scheduled) throws Exception {
        List<MeteredPod> pods = pods(scheduled);
        cluster.list(pods.stream().map(pod -> pod.json(500, scheduled, true, null)).toList(), 600);
        Map<String, String> nothingCloses = Map.of("GPUSHARING_LEDGER_HOURCLOSES", "PT5H");
        try (Subject first = start(cluster, dir, nothingCloses)) {
            first.awaitReady();
            first.await("select count(*) from pod_allocation", RUNNING);
            first.execute("update cluster set metering_start = now() - interval '1 day'");
            first.execute(
                    "update pod_allocation set held_from = '%1$s', posted_until = '%1$s', charged_until = '%1$s'"
                            .formatted(scheduled));
            first.kill();
        }
    }

    private Map<String, Object> reports(FakeApiServer cluster, Path dir) throws Exception {
        List<MeteredPod> pods = present(cluster);
        List<Meters.Sidecar> meters = Meters.sidecars(tokens, pods.subList(0, CONNECTIONS));
        try (Subject subject = start(cluster, dir, Map.of())) {
            subject.awaitReady();
            SSLContext tls = trusting(cluster);
            // Tokens are verified, and the JVM has compiled, before anything is counted.
            new ReportLoad(tls, subject.port(), meters, 1_500).run(20, () -> {});
            var result = new LinkedHashMap<String, Object>();
            result.put("connections", CONNECTIONS);
            int rate = Integer.getInteger("reportRate", 2_000);
            double cpu = subject.cpuSeconds();
            double own = ownCpu();
            List<Meters.Sidecar> again = meters.stream().map(Meters.Sidecar::restarted).toList();
            var load = new ReportLoad(tls, subject.port(), again, rate);
            load.run(
                    seconds,
                    () -> {
                        result.put(
                                "timekeeperCpuCores",
                                round((subject.cpuSeconds() - cpu) / seconds));
                        result.put("clientCpuCores", round((ownCpu() - own) / seconds));
                        result.put("residentMiB", mebibytes(subject.resident()));
                        result.put("mostResidentMiB", mebibytes(subject.mostResident()));
                        subject.kill();
                    });
            result.put("asked", rate);
            result.put("seconds", seconds);
            result.put("acknowledged", load.answers());
            result.put("acknowledgedPerSecond", Math.round(load.answers() / (double) seconds));
            result.put("refusedOrBroken", load.refused());
            result.put("dueToAnswerMillis", load.latencies().milliseconds());
            result.put("acknowledgedNotInDatabase", lost(subject, again, load.acknowledged()));
            result.put("durability", subject.durability());
            double floor = Floor.reportsPerSecond(subject, 16, CONNECTIONS, Math.min(20, seconds));
            result.put("floorReportsPerSecond", Math.round(floor));
            result.put("ratioToFloor", round(load.answers() / (double) seconds / floor));
            return result;
        }
    }

    private Map<String, Object> agents(FakeApiServer cluster, Path dir) throws Exception {
        List<MeteredPod> pods = present(cluster);
        List<Meters.Agent> meters = Meters.agents(tokens, pods);
        try (Subject subject = start(cluster, dir, Map.of())) {
            subject.awaitReady();
            SSLContext tls = trusting(cluster);
            List<Meters.Agent> some = meters.subList(0, 16);
            new ReportLoad(tls, subject.port(), some, 0).run(15, () -> {});
            List<Meters.Agent> again = some.stream().map(Meters.Agent::restarted).toList();
            var load = new ReportLoad(tls, subject.port(), again, 0);
            double own = ownCpu();
            int time = Math.min(60, seconds);
            load.run(time, () -> {});
            var result = new LinkedHashMap<String, Object>();
            result.put("agents", again.size());
            result.put("recordsOfAReport", pods.size() / MeteredPod.NODES);
            result.put("seconds", time);
            result.put(
                    "recordsPerSecond",
                    Math.round(load.answers() * (pods.size() / (double) MeteredPod.NODES) / time));
            result.put("clientCpuCores", round((ownCpu() - own) / time));
            result.put("refusedOrBroken", load.refused());
            result.put("dueToAnswerMillis", load.latencies().milliseconds());
            result.put("mostResidentMiB", mebibytes(subject.mostResident()));
            result.put("durability", subject.durability());
            return result;
        }
    }

    /** The same questions of the same team in a ledger of a million rows and in one of twenty. */
    private Map<String, Object> statement(FakeApiServer cluster) throws Exception {
        var result = new LinkedHashMap<String, Object>();
        result.put("small", ofLedger(cluster, new OldLedger(11, 10)));
        result.put("large", ofLedger(cluster, new OldLedger(202, 10)));
        return result;
    }

    private Map<String, Object> ofLedger(FakeApiServer cluster, OldLedger ledger) throws Exception {
        Path kept = Path.of(System.getProperty("ledgers", folder.toString()));
        Path dir = Files.createDirectories(kept.resolve("ledger-" + ledger.teams()));
        try (Subject subject = start(cluster, dir, Map.of())) {
            subject.awaitReady();
            subject.await("select count(*) from budget_terms", MeteredPod.TEAMS);
            ledger.make(subject);
            var result = new LinkedHashMap<String, Object>();
            result.put("rowsOfCharge", subject.number("select count(*) from charge"));
            result.put(
                    "databaseMiB",
                    mebibytes(subject.number("select pg_database_size(current_database())")));
            if (!Boolean.getBoolean("onlyLedgers")) {
                var questions = new Questions(trusting(cluster), subject.port());
                ask(questions, "team-0", 100, new LinkedHashMap<>());
                long scans = wholeReads(subject);
                ask(questions, "team-0", 300, result);
                if (ledger.teams() > 100) {
                    var ofLarge = new LinkedHashMap<String, Object>();
                    ask(questions, OldLedger.LARGE, 50, ofLarge);
                    result.put("teamOf" + OldLedger.LARGE_PODS + "Pods", ofLarge);
                }
                result.put("sequentialScansOfMonths", wholeReads(subject) - scans);
                result.put("durability", subject.durability());
            }
            return result;
        }
    }

    /** How often PostgreSQL has read a whole month of charges. */
    private static long wholeReads(Subject subject) throws SQLException, InterruptedException {
        // Sessions publish what they did at most once a second.
        Thread.sleep(2_000);
        return subject.number(
                "select sum(seq_scan) from pg_stat_user_tables where relname like 'charge\\_m%'");
    }

    private static void ask(Questions questions, String team, int times, Map<String, Object> result)
            throws Exception {
        var random = new Random(1);
        var balance = new Latencies();
        var now = new Latencies();
        var first = new Latencies();
        var whole = new Latencies();
        long lines = 0;
        String path = "/api/v1/budgets/" + team;
        for (int i = 0; i < times; i++) {
            YearMonth month = OldLedger.first().plusMonths(random.nextInt(OldLedger.MONTHS));
            Instant from = OldLedger.begin(month);
            Instant to = OldLedger.begin(month.plusMonths(1));
            long span = Duration.between(from, to).toSeconds();
            Instant at = from.plusSeconds(random.nextLong(span));
            time(balance, () -> questions.ask(path + "/balance?at=" + at));
            time(now, () -> questions.ask(path + "/balance"));
            String asked = path + "/statement?limit=1000&from=" + from + "&to=" + to;
            time(first, () -> questions.ask(asked));
            if (i % 10 == 0) {
                long start = System.nanoTime();
                for (String next = asked; !next.isEmpty(); lines++) {
                    next = questions.ask(next).next();
                }
                whole.add(System.nanoTime() - start);
            }
        }
        result.put("questionsOfEachKind", times);
        result.put("balanceThenMillis", balance.milliseconds());
        result.put("balanceNowMillis", now.milliseconds());
        result.put("statementOfAMonthMillis", first.milliseconds());
        result.put("allPagesOfAMonthMillis", whole.milliseconds());
        result.put("pagesOfAMonth", Math.round(lines / (double) whole.count()));
    }

    private static void time(Latencies latencies, Callable<?> question) throws Exception {
        long start = System.nanoTime();
        question.call();
        latencies.add(System.nanoTime() - start);
    }

    private Subject start(FakeApiServer cluster, Path dir, Map<String, String> settings) {
        return Subject.start(image, dir, cluster.url(), settings);
    }

    /** Ten thousand pods, bound two hours ago. */
    private static List<MeteredPod> present(FakeApiServer cluster) {
        Instant scheduled =
                Instant.now().truncatedTo(ChronoUnit.SECONDS).minus(Duration.ofHours(2));
        List<MeteredPod> pods = pods(scheduled);
        cluster.list(pods.stream().map(pod -> pod.json(500, scheduled, true, null)).toList(), 600);
        return pods;
    }

    private static List<MeteredPod> pods(Instant created) {
        return IntStream.range(0, RUNNING).mapToObj(i -> MeteredPod.of(i, created)).toList();
    }

    private static void awaitWatch(FakeApiServer cluster) throws InterruptedException {
        while (cluster.watching() == 0) {
            Thread.sleep(20);
        }
    }

    private static void awaitCharged(Subject subject, Instant until)
            throws SQLException, InterruptedException {
        // It ends at the first pod that is not charged yet: to count all of them time and again
        // would
        // take a core from what is measured.
        subject.await(
                "select count(*) from (select from pod_allocation where posted_until < '%s' limit 1) x"
                        .formatted(until),
                0);
        subject.await("select count(*) from pod_allocation", RUNNING);
    }

    private static boolean exact(Subject subject, Instant from, Instant to) throws SQLException {
        long each = MeteredPod.RATE * ChronoUnit.SECONDS.between(from, to);
        return subject.number(
                                "select count(*) from (select pod_uid from pod_charge group by 1 having sum(amount) = %d) x"
                                        .formatted(each))
                        == RUNNING
                && subject.number("select sum(amount)::bigint from usage_hour") == each * RUNNING;
    }

    /** Acknowledged reports that the database does not have. */
    private static long lost(Subject subject, List<Meters.Sidecar> meters, long[] acknowledged)
            throws SQLException {
        Map<UUID, Long> found = new LinkedHashMap<>();
        try (var connection = subject.database();
                var rows =
                        connection
                                .createStatement()
                                .executeQuery(
                                        "select run, array_agg(sequence) from usage_report where cluster = 'default' group by 1")) {
            while (rows.next()) {
                Long[] sequences = (Long[]) rows.getArray(2).getArray();
                UUID run = rows.getObject(1, UUID.class);
                for (int i = 0; i < meters.size(); i++) {
                    if (meters.get(i).run().equals(run)) {
                        long acked = acknowledged[i];
                        found.put(
                                run,
                                List.of(sequences).stream()
                                        .filter(it -> it >= 1 && it <= acked)
                                        .distinct()
                                        .count());
                    }
                }
            }
        }
        long lost = 0;
        for (int i = 0; i < meters.size(); i++) {
            lost += acknowledged[i] - found.getOrDefault(meters.get(i).run(), 0L);
        }
        return lost;
    }

    private static long wal(Subject subject) throws SQLException {
        return subject.number("select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint");
    }

    private static double ownCpu() {
        var system =
                (com.sun.management.OperatingSystemMXBean)
                        ManagementFactory.getOperatingSystemMXBean();
        return system.getProcessCpuTime() / 1e9;
    }

    private static SSLContext trusting(FakeApiServer cluster) {
        return TrustAnchors.trusting(cluster.authorityOfTimekeeper());
    }

    private static double rounded(double number) {
        return Math.round(number * 10_000) / 10_000.0;
    }

    private static double round(double number) {
        return Math.round(number * 100) / 100.0;
    }

    private static long mebibytes(long bytes) {
        return bytes >> 20;
    }
}
