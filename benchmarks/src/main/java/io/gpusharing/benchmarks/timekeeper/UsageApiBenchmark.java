package io.gpusharing.benchmarks.timekeeper;

import io.gpusharing.benchmarks.timekeeper.RealCluster.Timed;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;
import tools.jackson.databind.json.JsonMapper;

/**
 * The measurements of {@code benchmarks/usage-api}: arguments are {@code image folder result parts
 * seconds}, where parts are of {@code kubectl}, {@code churn}.
 */
public final class UsageApiBenchmark {

    private static final String API = "/apis/usage.gpusharing.io/v1alpha1";

    /** How many hours a pod of {@code kubectl} has run, each of them an entry of the ledger. */
    private static final int HOURS = 24;

    private static final int LISTS = Integer.getInteger("lists", 15);
    private static final int WARM_UP_LISTS = 5;
    private static final int ROUNDS = Integer.getInteger("rounds", 6);
    private static final int WARM_UP_SECONDS = 20;
    private static final int RATE = Integer.getInteger("rate", 500);
    private static final int QUESTIONS = Integer.getInteger("questionRate", 200);

    /** People look at pods and budgets again and again, and at an account now and then. */
    private static final int OF_TEN = 10;

    /** So few that none waits for another. */
    private static final int SLOW_QUESTIONS = 20;

    /** As long as a pod of the churn lives. */
    private static final int MORE_SECONDS = 10;

    private final Path image;
    private final Path folder;
    private final int seconds;
    private final Path tools = Path.of(System.getProperty("tools"));

    private UsageApiBenchmark(Path image, Path folder, int seconds) {
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
                new UsageApiBenchmark(
                        Path.of(arguments[0]),
                        Path.of(arguments[1]),
                        Integer.parseInt(arguments[4]));
        var results = new LinkedHashMap<String, Object>();
        results.put("at", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
        results.put("processors", Runtime.getRuntime().availableProcessors());
        results.put("java", Runtime.version().toString());
        for (String part : arguments[3].split(",", -1)) {
            double load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
            Path dir = Files.createDirectories(benchmark.folder.resolve(part));
            Map<String, Object> result =
                    switch (part) {
                        case "kubectl" -> benchmark.kubectl(dir);
                        case "churn" -> benchmark.churn(dir);
                        default -> throw new IllegalArgumentException("There is no part " + part);
                    };
            result.put("load_before", rounded(load));
            results.put(part, result);
            Files.writeString(
                    Path.of(arguments[2]),
                    new JsonMapper().writerWithDefaultPrettyPrinter().writeValueAsString(results));
        }
    }

    /** How long a person waits who lists everything, beside lists of the same pods. */
    private Map<String, Object> kubectl(Path dir) throws Exception {
        var result = new LinkedHashMap<String, Object>();
        result.put("hoursPosted", HOURS);
        result.put("lists", LISTS);
        try (var cluster = new RealCluster(Path.of(System.getProperty("cluster")), tools, dir)) {
            cluster.prepare();
            int port = Subject.freePort();
            cluster.kubectl(
                    "patch",
                    "apiservice",
                    "v1alpha1.usage.gpusharing.io",
                    "--type=merge",
                    "--patch={\"spec\":{\"service\":{\"port\":%d}}}".formatted(port));
            Map<String, String> settings =
                    Map.of(
                            "GPUSHARING_AGGREGATED_ENABLED",
                            "true",
                            "GPUSHARING_AGGREGATED_PORT",
                            String.valueOf(port));
            int there = 0;
            for (int pods : pods()) {
                long start = System.nanoTime();
                try (Subject first = Subject.start(image, dir, cluster.kubeconfig(), settings)) {
                    first.awaitReady();
                    long binding = System.nanoTime();
                    cluster.bind(there, pods);
                    System.out.printf(
                            "%d pods are bound in %d s%n",
                            pods - there,
                            Duration.ofNanos(System.nanoTime() - binding).toSeconds());
                    first.await("select count(*) from pod_allocation", pods);
                    age(first);
                    first.kill();
                }
                there = pods;
                try (Subject subject = Subject.start(image, dir, cluster.kubeconfig(), settings)) {
                    subject.awaitReady();
                    subject.await(
                            "select count(*) from pod_allocation where posted_until < date_trunc('hour', now() - interval '1 minute')",
                            0);
                    subject.await(
                            "select count(*) from (select pod_uid from pod_charge group by 1 having count(*) >= %d) x"
                                    .formatted(HOURS),
                            pods);
                    // As autovacuum would have done in the hours that these rows are old.
                    subject.execute("vacuum analyze");
                    awaitAnswers(cluster, pods);
                    System.out.printf(
                            "%d pods are there after %d s%n",
                            pods, Duration.ofNanos(System.nanoTime() - start).toSeconds());
                    Map<String, Object> lists = lists(cluster, subject, pods);
                    lists.put("durability", subject.durability());
                    System.out.println(pods + " pods: " + lists);
                    result.put(pods + "Pods", lists);
                }
            }
        }
        return result;
    }

    private static int[] pods() {
        return Stream.of(System.getProperty("pods", "1000,10000").split(",", -1))
                .mapToInt(Integer::parseInt)
                .toArray();
    }

    /**
     * Pods have been there for a day, and two meters have measured each. The hours are posted at
     * the next start, as after an outage.
     */
    private static void age(Subject subject) throws Exception {
        subject.execute("update cluster set metering_start = now() - interval '2 days'");
        subject.execute(
                "update pod_allocation set (held_from, posted_until, charged_until) = (h, h, h) from (select date_trunc('hour', now()) - interval '%d hours' as h) x where not exists (select from pod_charge c where c.pod_uid = pod_allocation.pod_uid)"
                        .formatted(HOURS));
        subject.execute(
                """
                insert into usage_counter (cluster, pod_uid, run, meter, device, basis, basis_reason, gpu_us,
                    memory_bs, covered_us, uncovered_us, sequence, first_at, last_at)
                select cluster, pod_uid, gen_random_uuid(), meter, 'GPU-' || node, 'Process', '', 21600000000,
                    1000000, 86000000000, 400000000, 5760, held_from, now()
                  from pod_allocation cross join (values ('Agent'), ('Sidecar')) meters (meter)
                 where not exists (select from usage_counter u where u.pod_uid = pod_allocation.pod_uid)
                """);
    }

    /** The API server passes on questions a while after the timekeeper has started. */
    private static void awaitAnswers(RealCluster cluster, int pods) throws Exception {
        long end = System.nanoTime() + Duration.ofMinutes(2).toNanos();
        while (true) {
            try {
                if (cluster.kubectl("get", "podusages", "-A").lines() == pods + 1) {
                    return;
                }
            } catch (IllegalStateException e) {
                if (System.nanoTime() > end) {
                    throw e;
                }
            }
            Thread.sleep(500);
        }
    }

    /** What one kind of list took, all times together. */
    private static final class Taken {

        private final List<Double> seconds = new ArrayList<>();
        private final double[] cpu = new double[4];

        void add(Timed timed, double[] before, double[] after) {
            seconds.add(timed.seconds());
            cpu[0] += timed.cpuSeconds();
            for (int part = 0; part < after.length; part++) {
                cpu[part + 1] += after[part] - before[part];
            }
        }

        Map<String, Object> result() {
            var result = new LinkedHashMap<String, Object>();
            result.put("medianSeconds", rounded(median(seconds)));
            result.put(
                    "maxSeconds",
                    rounded(seconds.stream().mapToDouble(Double::doubleValue).max().orElse(0)));
            result.put("cpuSecondsOfKubectl", rounded(cpu[0] / seconds.size()));
            result.put("cpuSecondsOfApiServer", rounded(cpu[1] / seconds.size()));
            result.put("cpuSecondsOfTimekeeper", rounded(cpu[2] / seconds.size()));
            result.put("cpuSecondsOfPostgres", rounded(cpu[3] / seconds.size()));
            return result;
        }
    }

    private static Map<String, Object> lists(RealCluster cluster, Subject subject, int pods)
            throws IOException, InterruptedException {
        var usages = new Taken();
        var all = new Taken();
        var version = new Taken();
        for (int i = -WARM_UP_LISTS; i < LISTS; i++) {
            time(
                    cluster,
                    subject,
                    pods + 1,
                    i < 0 ? new Taken() : usages,
                    "get",
                    "podusages",
                    "-A");
            time(cluster, subject, pods + 1, i < 0 ? new Taken() : all, "get", "pods", "-A");
            time(cluster, subject, 0, i < 0 ? new Taken() : version, "get", "--raw=/version");
        }
        var result = new LinkedHashMap<String, Object>();
        result.put("podusages", usages.result());
        result.put("pods", all.result());
        result.put("version", version.result());
        result.put("podusagesToPods", rounded(median(usages.seconds) / median(all.seconds)));
        return result;
    }

    /**
     * @param lines that the answer must have; 0 for any
     */
    private static void time(
            RealCluster cluster, Subject subject, int lines, Taken taken, String... asked)
            throws IOException, InterruptedException {
        double[] before = cpu(cluster, subject);
        Timed timed = cluster.kubectl(asked);
        if (lines > 0 && timed.lines() != lines) {
            throw new IllegalStateException(
                    "%s has %d lines".formatted(String.join(" ", asked), timed.lines()));
        }
        taken.add(timed, before, cpu(cluster, subject));
    }

    private static double[] cpu(RealCluster cluster, Subject subject) throws IOException {
        return new double[] {
            cluster.apiServerCpuSeconds(), subject.cpuSeconds(), subject.databaseCpuSeconds()
        };
    }

    /** What questions cost the ledger: its churn without and with them, in turns. */
    private Map<String, Object> churn(Path dir) throws Exception {
        Path proxy = Path.of(System.getProperty("frontProxy"));
        try (var cluster = new FakeApiServer(new Tokens().jwks(), dir)) {
            cluster.passesOnBy(Files.readString(proxy.resolve("front-proxy-ca.crt")));
            int port = Subject.freePort();
            Map<String, String> settings =
                    Map.of(
                            "GPUSHARING_AGGREGATED_ENABLED",
                            "true",
                            "GPUSHARING_AGGREGATED_PORT",
                            String.valueOf(port));
            try (Subject subject = Subject.start(image, dir, cluster.url(), settings)) {
                subject.awaitReady();
                while (cluster.watching() == 0) {
                    Thread.sleep(20);
                }
                subject.await("select count(*) from budget_terms", MeteredPod.TEAMS);
                String authority = cluster.authorityOfTimekeeper();
                Vegeta vegeta = vegeta(dir, proxy, authority, questions(port));
                var rounds = new Rounds(cluster, subject, vegeta);
                // So that what is measured is not the JVM's first minute.
                rounds.run(Math.min(WARM_UP_SECONDS, seconds), false);
                System.out.println(
                        "warm-up: "
                                + vegeta.attack(SLOW_QUESTIONS, Math.min(WARM_UP_SECONDS, seconds))
                                        .end());
                rounds.run(Math.min(WARM_UP_SECONDS, seconds), true);
                List<Map<String, Object>> without = new ArrayList<>();
                List<Map<String, Object>> with = new ArrayList<>();
                for (int i = 0; i < ROUNDS; i++) {
                    // Each goes first as often as the other: the ledger grows.
                    boolean asked = (i % 4 == 1) || (i % 4 == 2);
                    Map<String, Object> round = rounds.run(seconds, asked);
                    System.out.println((asked ? "with: " : "without: ") + round);
                    (asked ? with : without).add(round);
                }
                var result = new LinkedHashMap<String, Object>();
                for (String number :
                        List.of(
                                "committedPerSecond",
                                "timekeeperCpuCores",
                                "postgresCpuCores",
                                "p50",
                                "p90",
                                "p99")) {
                    double ratio = median(with, number) / median(without, number);
                    result.put(number + "WithToWithout", rounded(ratio));
                }
                for (String kind : List.of("podusages", "budgetusage", "statement")) {
                    List<String> some =
                            questions(port).stream().filter(it -> kind(it).equals(kind)).toList();
                    result.put(kind + "Alone", alone(subject, vegeta(dir, proxy, authority, some)));
                }
                result.put("residentMiB", subject.resident() >> 20);
                result.put("mostResidentMiB", subject.mostResident() >> 20);
                result.put("durability", subject.durability());
                result.put("without", without);
                result.put("with", with);
                return result;
            }
        }
    }

    private Vegeta vegeta(Path dir, Path proxy, String authority, List<String> questions)
            throws IOException {
        return new Vegeta(
                tools.resolve("vegeta"), dir, proxy, authority, questions, UsageApiBenchmark::kind);
    }

    /** What a question costs, in the ledger that the rounds have left. */
    private static Map<String, Object> alone(Subject subject, Vegeta vegeta) throws Exception {
        vegeta.attack(SLOW_QUESTIONS, 5).end();
        double timekeeper = subject.cpuSeconds();
        double postgres = subject.databaseCpuSeconds();
        Map<String, Object> result = vegeta.attack(SLOW_QUESTIONS, 10).end();
        double asked = SLOW_QUESTIONS * 10 / 1e3;
        result.put("timekeeperCpuMillis", rounded((subject.cpuSeconds() - timekeeper) / asked));
        result.put("postgresCpuMillis", rounded((subject.databaseCpuSeconds() - postgres) / asked));
        return result;
    }

    private static List<String> questions(int port) {
        String address = "https://127.0.0.1:" + port + API;
        var all = new ArrayList<String>();
        for (int i = 0; i < OF_TEN * MeteredPod.TEAMS; i++) {
            int team = i % MeteredPod.TEAMS;
            String budget = address + "/budgetusages/team-" + team;
            all.add(
                    switch ((i + i / MeteredPod.TEAMS) % OF_TEN) {
                        case 0 -> budget + "/statement";
                        case 1, 2, 3, 4 -> budget;
                        default -> address + "/namespaces/team-" + team + "/podusages?limit=500";
                    });
        }
        return all;
    }

    private static String kind(String url) {
        return url.contains("podusages")
                ? "podusages"
                : url.endsWith("statement") ? "statement" : "budgetusage";
    }

    /** One churn after the other, each with pods of its own. */
    private static final class Rounds {

        private final FakeApiServer cluster;
        private final Subject subject;
        private final Vegeta vegeta;
        private long version = 1_000;
        private int pod;

        Rounds(FakeApiServer cluster, Subject subject, Vegeta vegeta) {
            this.cluster = cluster;
            this.subject = subject;
            this.vegeta = vegeta;
        }

        Map<String, Object> run(int seconds, boolean asked) throws Exception {
            var load = new ChurnLoad(cluster, subject, RATE, seconds, version);
            double postgres = subject.databaseCpuSeconds();
            long start = System.nanoTime();
            Vegeta.Attack attack = asked ? vegeta.attack(QUESTIONS, seconds + MORE_SECONDS) : null;
            Map<String, Object> result = load.run(pod);
            double took = (System.nanoTime() - start) / 1e9;
            result.put(
                    "postgresCpuCores", rounded((subject.databaseCpuSeconds() - postgres) / took));
            if (attack != null) {
                result.put("questions", attack.end());
            }
            version = load.nextVersion();
            pod += RATE * seconds;
            return result;
        }
    }

    private static double median(List<Map<String, Object>> rounds, String number) {
        return median(rounds.stream().map(round -> number(round, number)).toList());
    }

    /** A number of a round, or one of its latencies. */
    private static double number(Map<String, Object> round, String name) {
        Object found =
                round.get("eventToCommitMillis") instanceof Map<?, ?> latencies
                                && latencies.containsKey(name)
                        ? latencies.get(name)
                        : round.get(name);
        if (found instanceof Number number) {
            return number.doubleValue();
        }
        throw new IllegalStateException(name + " is " + found);
    }

    private static double median(List<Double> values) {
        double[] sorted = values.stream().mapToDouble(it -> it).sorted().toArray();
        int middle = sorted.length / 2;
        return DoubleStream.of(Arrays.copyOfRange(sorted, (sorted.length - 1) / 2, middle + 1))
                .average()
                .orElse(0);
    }

    private static double rounded(double number) {
        return Math.round(number * 1_000) / 1_000.0;
    }
}
