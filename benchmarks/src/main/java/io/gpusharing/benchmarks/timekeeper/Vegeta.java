package io.gpusharing.benchmarks.timekeeper;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Asks the timekeeper's port for the API server as the API server does, with the certificate of its
 * front proxy: at fixed instants, whether or not the questions before are answered.
 */
final class Vegeta {

    /** Of a line of {@code vegeta encode --to csv}: status, nanoseconds, address. */
    private static final Pattern ANSWERED =
            Pattern.compile("\\d+,(?<status>\\d+),(?<took>\\d+),.*,GET,(?<url>https://[^,]+),.*");

    /** An API server passes on no more at once than the timekeeper's port has room for. */
    private static final int AT_ONCE = 150;

    /** Nobody has all turns, and no cluster has one person. */
    private static final int PEOPLE = 20;

    private final Path program;
    private final Path dir;
    private final Path proxy;
    private final UnaryOperator<String> kindOf;

    /**
     * @param dir where it keeps targets and answers
     * @param proxy what {@code tools/front-proxy} made
     * @param authority by which the timekeeper is known
     * @param questions whole addresses, asked one after the other
     * @param kindOf an address's kind, by which latencies are put together
     */
    Vegeta(
            Path program,
            Path dir,
            Path proxy,
            String authority,
            List<String> questions,
            UnaryOperator<String> kindOf)
            throws IOException {
        this.program = program;
        this.dir = dir;
        this.proxy = proxy;
        this.kindOf = kindOf;
        Files.writeString(dir.resolve("ca.crt"), authority);
        Files.writeString(
                dir.resolve("targets"),
                IntStream.range(0, questions.size())
                        .mapToObj(i ->
                                "GET %s\nX-Remote-User: person-%d\n\n"
                                        .formatted(questions.get(i), i % PEOPLE))
                        .collect(Collectors.joining()));
    }

    /** Questions that are being asked. */
    final class Attack {

        private final Process process;
        private final int rate;
        private final long begin = System.nanoTime();
        private final CompletableFuture<Long> ended;

        private Attack(Process process, int rate) {
            this.process = process;
            this.rate = rate;
            this.ended = process.onExit().thenApply(it -> System.nanoTime());
        }

        /** Waits for the last answer, and says how long each took. */
        Map<String, Object> end() throws IOException, InterruptedException {
            if (process.waitFor() != 0) {
                throw new IllegalStateException("vegeta: see " + dir.resolve("vegeta.log"));
            }
            var byKind = new TreeMap<String, Latencies>();
            var all = new Latencies();
            var statuses = new TreeMap<String, Integer>();
            try (Stream<String> lines = Files.lines(answers())) {
                lines.map(ANSWERED::matcher)
                        .filter(Matcher::matches)
                        .forEach(answer -> {
                            long took = Long.parseLong(answer.group("took"));
                            all.add(took);
                            byKind.computeIfAbsent(
                                            kindOf.apply(answer.group("url")),
                                            kind -> new Latencies())
                                    .add(took);
                            statuses.merge(answer.group("status"), 1, Integer::sum);
                        });
            }
            var result = new LinkedHashMap<String, Object>();
            result.put("askedPerSecond", rate);
            result.put(
                    "answeredPerSecond", Math.round(all.count() / ((ended.join() - begin) / 1e9)));
            result.put("questions", all.count());
            result.put("failed", all.count() - statuses.getOrDefault("200", 0));
            result.put("statuses", statuses);
            result.put("millis", all.milliseconds());
            byKind.forEach((kind, latencies) -> result.put(kind, latencies.milliseconds()));
            return result;
        }
    }

    private Path answers() throws IOException, InterruptedException {
        Path csv = dir.resolve("answers.csv");
        int code =
                new ProcessBuilder(
                                program.toString(),
                                "encode",
                                "--to=csv",
                                "--output=" + csv,
                                dir.resolve("answers").toString())
                        .inheritIO()
                        .start()
                        .waitFor();
        if (code != 0) {
            throw new IllegalStateException("vegeta encode ended with " + code);
        }
        return csv;
    }

    /** Asks so many a second. Connections are as many as an API server keeps open. */
    Attack attack(int rate, int seconds) throws IOException {
        var command =
                List.of(
                        program.toString(),
                        "attack",
                        "-targets=" + dir.resolve("targets"),
                        "-rate=" + rate,
                        "-duration=" + seconds + "s",
                        "-connections=25",
                        "-max-workers=" + AT_ONCE,
                        "-http2=false",
                        "-max-body=0",
                        "-root-certs=" + dir.resolve("ca.crt"),
                        "-cert=" + proxy.resolve("front-proxy-client.crt"),
                        "-key=" + proxy.resolve("front-proxy-client.key"),
                        "-header=X-Remote-Group: system:authenticated",
                        // As kubectl asks for what it shows.
                        "-header=Accept: application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
                        "-output=" + dir.resolve("answers"));
        Process process =
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(dir.resolve("vegeta.log").toFile())
                        .start();
        return new Attack(process, rate);
    }
}
