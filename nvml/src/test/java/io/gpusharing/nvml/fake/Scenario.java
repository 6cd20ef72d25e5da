package io.gpusharing.nvml.fake;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What a fake NVML plays. One statement a line; {@code #} begins a comment:
 *
 * <pre>
 * driver 580.159.03                  # decides symbols, and pids in lists and samples
 * view shared                        # shared | own (a pod's namespaces) | host
 * device GPU-1f2e3d4c memory=80GiB name=H100 [mig=GPU-child,GPU-child2] [minor=0]
 *         [pci=0000:3b:00.0] [events=266]   # the sum of the event types that it supports
 * process busy=30% [device=0] [host=4001] [pod=17] [uid=…] [memory=4GiB]
 *         [on=1.7s off=2.3s] [from=0s] [to=60s]
 * mps                                # processes are MPS clients, samples carry the server, which is
 *                                    # listed, not as a client, where a process is host=4000
 * turns [random]                     # processes take turns, and the driver samples who runs: each
 *                                    # computes for on, and again after off, or at random
 * row pid=17 sm=101 [at=-0.1s]       # a row more in each answer, at an instant relative to now
 * event device=0 type=8 data=79 at=5s # an event of a GPU: 8 an XID, 256 a change of MIG
 * empty                              # SUCCESS with no rows instead of NOT_FOUND
 * without nvmlDeviceGetSamples       # the library lacks a symbol
 * fail nvmlDeviceGetSamples 999 [after=10] [times=3] [every=40] [device=0]
 * latency nvmlDeviceGetSamples 5ms
 * hang nvmlDeviceGetSamples [after=10]
 * </pre>
 */
public final class Scenario {

    /** From where NVML is asked. */
    public enum View {
        /** The machine's first process namespace, as a node agent with hostPID. */
        HOST,
        /** A pod whose containers share one process namespace. */
        SHARED,
        /** A pod whose containers each have their own. */
        OWN
    }

    /**
     * A GPU.
     *
     * @param migUuids its instances; empty where MIG is off
     * @param pci its place as the kernel spells it
     * @param events bits of the types that it can report
     */
    public record Device(
            String uuid,
            String name,
            long memoryBytes,
            List<String> migUuids,
            int minor,
            String pci,
            long events) {}

    /** A row of samples that is added to each answer. */
    public record Row(long pid, long sm, long atMicros) {}

    /** What a GPU reports by itself. */
    public record Event(int device, long type, long data, long atMicros) {}

    /**
     * A call that answers an error, from its {@code after}-th call on, so many times.
     *
     * @param every how many calls lie between two that fail; 1 for none
     * @param device index of the GPU that it is asked about; negative for any
     */
    public record Failure(String symbol, int code, int after, int times, int every, int device) {

        boolean hits(String asked, int number, int about) {
            return symbol.equals(asked)
                    && number >= after
                    && number - after < times
                    && number % every == every - 1
                    && (device < 0 || device == about);
        }
    }

    String driver = "580.159.03";
    View view = View.SHARED;
    boolean mps;
    boolean turns;
    boolean randomTurns;
    boolean emptyIsSuccess;
    final List<Event> events = new ArrayList<>();
    final List<Row> rows = new ArrayList<>();
    final List<Device> devices = new ArrayList<>();
    final List<FakeProcess> processes = new ArrayList<>();
    final List<String> without = new ArrayList<>();
    final List<Failure> failures = new ArrayList<>();
    final Map<String, Long> latencyMicros = new HashMap<>();
    final Map<String, Integer> hangsAfter = new HashMap<>();

    private Scenario() {}

    /**
     * Reads a scenario.
     *
     * @throws IllegalArgumentException naming the line that cannot be read
     */
    public static Scenario parse(String text) {
        Scenario scenario = new Scenario();
        for (String line : text.lines().toList()) {
            String statement = line.replaceAll("(^|\\s)#.*", "").strip();
            if (!statement.isEmpty()) {
                try {
                    scenario.read(statement.split("\\s+", -1));
                } catch (RuntimeException e) {
                    throw new IllegalArgumentException("Cannot read the line: " + line, e);
                }
            }
        }
        return scenario;
    }

    /** The driver's version. */
    public String driver() {
        return driver;
    }

    /** From where NVML is asked. */
    public View view() {
        return view;
    }

    /** Whether a process is the server of MPS. */
    public boolean isMpsServer(FakeProcess process) {
        return mps && process.hostPid() == FakeNvml.MPS_SERVER;
    }

    /** All processes, whether alive or not. */
    public List<FakeProcess> processes() {
        return processes;
    }

    private void read(String[] words) {
        switch (words[0]) {
            case "driver" -> driver = words[1];
            case "view" -> view = View.valueOf(words[1].toUpperCase(java.util.Locale.ROOT));
            case "mps" -> mps = true;
            case "turns" -> {
                turns = true;
                randomTurns = words.length > 1;
            }
            case "empty" -> emptyIsSuccess = true;
            case "event" -> {
                Map<String, String> options = options(words, 1);
                events.add(
                        new Event(
                                Integer.parseInt(options.getOrDefault("device", "0")),
                                Long.parseLong(options.getOrDefault("type", "8")),
                                Long.parseLong(options.getOrDefault("data", "79")),
                                micros(options.getOrDefault("at", "0s"))));
            }
            case "row" -> {
                Map<String, String> options = options(words, 1);
                rows.add(
                        new Row(
                                Long.parseLong(options.getOrDefault("pid", "17")),
                                Long.parseLong(options.getOrDefault("sm", "50")),
                                micros(options.getOrDefault("at", "-0.05s"))));
            }
            case "without" -> without.add(words[1]);
            case "latency" -> latencyMicros.put(words[1], micros(words[2]));
            case "device" -> devices.add(device(words));
            case "process" -> processes.add(process(words));
            case "fail" -> {
                Map<String, String> options = options(words, 3);
                failures.add(
                        new Failure(
                                words[1],
                                Integer.parseInt(words[2]),
                                Integer.parseInt(options.getOrDefault("after", "0")),
                                Integer.parseInt(
                                        options.getOrDefault(
                                                "times", Integer.toString(Integer.MAX_VALUE))),
                                Integer.parseInt(options.getOrDefault("every", "1")),
                                Integer.parseInt(options.getOrDefault("device", "-1"))));
            }
            case "hang" ->
                    hangsAfter.put(
                            words[1],
                            Integer.parseInt(options(words, 2).getOrDefault("after", "0")));
            default -> throw new IllegalArgumentException("no such statement: " + words[0]);
        }
    }

    private Device device(String[] words) {
        Map<String, String> options = options(words, 2);
        String mig = options.getOrDefault("mig", "");
        int number = devices.size();
        return new Device(
                words[1],
                options.getOrDefault("name", "Fake GPU"),
                bytes(options.getOrDefault("memory", "80GiB")),
                mig.isEmpty() ? List.of() : List.of(mig.split(",", -1)),
                Integer.parseInt(options.getOrDefault("minor", Integer.toString(number))),
                options.getOrDefault("pci", String.format("0000:%02x:00.0", number + 1)),
                Long.parseLong(options.getOrDefault("events", "266")));
    }

    private FakeProcess process(String[] words) {
        Map<String, String> options = options(words, 1);
        int number = processes.size();
        return new FakeProcess(
                Integer.parseInt(options.getOrDefault("device", "0")),
                Long.parseLong(options.getOrDefault("host", Integer.toString(4001 + number))),
                Long.parseLong(options.getOrDefault("pod", Integer.toString(17 + number))),
                options.getOrDefault("uid", ""),
                bytes(options.getOrDefault("memory", "1GiB")),
                Integer.parseInt(options.getOrDefault("busy", "0").replace("%", "")),
                micros(options.getOrDefault("on", "0s")),
                micros(options.getOrDefault("off", "0s")),
                micros(options.getOrDefault("from", "-1000s")),
                micros(options.getOrDefault("to", "1000000000s")));
    }

    private static Map<String, String> options(String[] words, int from) {
        Map<String, String> options = new HashMap<>();
        for (int i = from; i < words.length; i++) {
            int at = words[i].indexOf('=');
            options.put(words[i].substring(0, at), words[i].substring(at + 1));
        }
        return options;
    }

    private static long bytes(String text) {
        if (text.endsWith("GiB")) {
            return Long.parseLong(text.replace("GiB", "")) << 30;
        }
        if (text.endsWith("MiB")) {
            return Long.parseLong(text.replace("MiB", "")) << 20;
        }
        return Long.parseUnsignedLong(text);
    }

    private static long micros(String text) {
        return text.endsWith("ms")
                ? Long.parseLong(text.replace("ms", "")) * 1_000
                : (long) (Double.parseDouble(text.replace("s", "")) * 1_000_000);
    }
}
